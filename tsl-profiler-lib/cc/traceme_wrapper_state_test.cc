// Annotations that objects own, beside those of scopes, as a Python program has them.
#include "xprof_roctx/traceme_wrapper_state.h"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tsl-profiler-lib/cc/recording_roctx.h"
#include "tsl/profiler/lib/scoped_annotation.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"

namespace xprof_roctx {
namespace {

using ::recording_roctx::OpenRanges;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::tsl::profiler::AnnotationStack;
using ::tsl::profiler::ScopedAnnotation;

const bool kUsed = (recording_roctx::Use(), true);

class TraceMeWrapperStateTest : public ::testing::Test {
 protected:
  TraceMeWrapperStateTest() { AnnotationStack::Enable(true); }
  ~TraceMeWrapperStateTest() override {
    EXPECT_EQ(AnnotationStack::Get(), "");
    EXPECT_THAT(OpenRanges(), IsEmpty());
    AnnotationStack::Enable(false);
  }
};

TEST_F(TraceMeWrapperStateTest, PushesOnConstructionAndStopsOnce) {
  ASSERT_TRUE(kUsed);
  TraceMeWrapperState outer("outer");
  TraceMeWrapperState inner("step#step_num=3,_r=1#");
  EXPECT_EQ(AnnotationStack::Get(), "outer::step#step_num=3,_r=1#");
  EXPECT_THAT(OpenRanges(), ElementsAre("outer", "step#step_num=3,_r=1#"));
  inner.Stop();
  inner.Stop();
  EXPECT_EQ(AnnotationStack::Get(), "outer");
  EXPECT_THAT(OpenRanges(), ElementsAre("outer"));
}

TEST_F(TraceMeWrapperStateTest, LabelsAreBytes) {
  TraceMeWrapperState object(std::string_view("\xff\0\xfe", 3));
  EXPECT_EQ(AnnotationStack::Get(), std::string("\xff\0\xfe", 3));
  EXPECT_THAT(OpenRanges(), ElementsAre("\xff\xef\xbf\xbd\xfe"));
  TraceMeWrapperState empty(std::string_view{});
  EXPECT_EQ(AnnotationStack::GetScopeRangeIds().size(), 2);
}

TEST_F(TraceMeWrapperStateTest, StoppedOutOfOrder) {
  TraceMeWrapperState a("a");
  TraceMeWrapperState b("b");
  TraceMeWrapperState c("c");
  a.Stop();
  EXPECT_THAT(OpenRanges(), ElementsAre("a", "b", "c"));
  c.Stop();
  EXPECT_THAT(OpenRanges(), ElementsAre("a", "b"));
  b.Stop();
  EXPECT_THAT(OpenRanges(), IsEmpty());
}

TEST_F(TraceMeWrapperStateTest, AScopeDoesNotEndAnObjectsRange) {
  std::optional<TraceMeWrapperState> object;
  {
    ScopedAnnotation scope("scope");
    object.emplace("object");
  }
  EXPECT_THAT(OpenRanges(), ElementsAre("scope", "object"));
  {
    ScopedAnnotation next("next");
    EXPECT_EQ(AnnotationStack::Get(), "scope::object::next");
  }
  object.reset();
}

TEST_F(TraceMeWrapperStateTest, StoppedOnAnotherThread) {
  auto object = std::make_unique<TraceMeWrapperState>("object");
  std::thread([&] {
    ScopedAnnotation elsewhere("elsewhere");
    object.reset();
    EXPECT_EQ(AnnotationStack::Get(), "elsewhere");
    EXPECT_THAT(OpenRanges(), ElementsAre("elsewhere"));
  }).join();
  EXPECT_THAT(OpenRanges(), ElementsAre("object"));
  ScopedAnnotation next("next");
  EXPECT_EQ(AnnotationStack::Get(), "next");
  EXPECT_THAT(OpenRanges(), ElementsAre("next"));
}

TEST_F(TraceMeWrapperStateTest, OutlivesItsThread) {
  std::optional<TraceMeWrapperState> object;
  std::thread([&] { object.emplace("object"); }).join();
  object->Stop();
  object.reset();
}

TEST_F(TraceMeWrapperStateTest, StoppedByManyThreadsAtOnce) {
  for (int round = 0; round < 200; ++round) {
    TraceMeWrapperState outer("outer");
    TraceMeWrapperState object("object");
    std::vector<std::thread> threads;
    for (int nth = 0; nth < 3; ++nth) {
      threads.emplace_back([&] { object.Stop(); });
    }
    object.Stop();
    for (std::thread& thread : threads) thread.join();
    ScopedAnnotation settled("settled");
    ASSERT_THAT(OpenRanges(), ElementsAre("outer", "settled"));
  }
}

TEST_F(TraceMeWrapperStateTest, Moves) {
  TraceMeWrapperState first("first");
  TraceMeWrapperState moved = std::move(first);
  first.Stop();  // has nothing any more
  EXPECT_EQ(AnnotationStack::Get(), "first");
  TraceMeWrapperState second("second");
  second = std::move(moved);
  EXPECT_EQ(AnnotationStack::Get(), "first") << "the second has ended";
  second.Stop();
}

}  // namespace
}  // namespace xprof_roctx
