// A profiler of the factory, through the bridge: each of its states.
#include "xprof_roctx/gpu_tracer.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tsl/profiler/lib/scoped_annotation.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"
#include "xplane-schema/cc/xspace_bytes.h"
#include "xprof_roctx/roctx_tracer.h"
#include "xprof_roctx/xplane_schema.h"

namespace xprof_roctx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::tsl::profiler::AnnotationStack;
using ::tsl::profiler::ScopedAnnotation;

// What is collected, by a call that must not fail.
xspace_bytes::Space Collect(GpuTracer& profiler) {
  xspace_bytes::FakeXSpace space;
  EXPECT_EQ(profiler.CollectData(&space), "");
  return space.Read();
}

std::vector<std::string> Markers(const xspace_bytes::Space& space) {
  const xspace_bytes::Plane* plane = space.Find(kRoctxPlaneName);
  if (plane == nullptr || plane->lines.size() != 1) return {};
  return plane->lines[0].EventNames();
}

TEST(GpuTracerTest, NotStartedStopsAndCollectsNothing) {
  auto profiler = CreateGpuTracer();
  EXPECT_EQ(profiler->Stop(), "");
  EXPECT_THAT(Collect(*profiler).planes, IsEmpty());
  EXPECT_FALSE(AnnotationStack::IsEnabled());
  EXPECT_EQ(profiler->Start(), "") << "it can still start";
  EXPECT_EQ(profiler->Stop(), "");
}

TEST(GpuTracerTest, StartedRecordsAndRefusesToCollect) {
  auto profiler = CreateGpuTracer();
  ASSERT_EQ(profiler->Start(), "");
  EXPECT_TRUE(AnnotationStack::IsEnabled());
  { ScopedAnnotation early("early"); }
  bool called = false;
  EXPECT_THAT(profiler->CollectTo([&](std::string_view) { called = true; }),
              HasSubstr("stop the profiler first"));
  EXPECT_FALSE(called);
  xspace_bytes::FakeXSpace untouched(xspace_bytes::Field(3, "was there"));
  EXPECT_THAT(profiler->CollectData(&untouched),
              HasSubstr("stop the profiler first"));
  EXPECT_THAT(untouched.Read().warnings, ElementsAre("was there"));
  EXPECT_THAT(profiler->Start(), HasSubstr("was started before"));
  { ScopedAnnotation late("late"); }
  EXPECT_EQ(profiler->Stop(), "");
  EXPECT_FALSE(AnnotationStack::IsEnabled());
  EXPECT_THAT(Markers(Collect(*profiler)), ElementsAre("early", "late"))
      << "what was refused changed nothing";
}

TEST(GpuTracerTest, StoppedCollectsOnceAndDoesNotStartAgain) {
  auto profiler = CreateGpuTracer();
  ASSERT_EQ(profiler->Start(), "");
  { ScopedAnnotation range("range"); }
  ASSERT_EQ(profiler->Stop(), "");
  EXPECT_EQ(profiler->Stop(), "");
  EXPECT_THAT(profiler->Start(), HasSubstr("was started before"));
  xspace_bytes::FakeXSpace space(
      xspace_bytes::Field(1, xspace_bytes::Field(2, "/host:CPU")));
  EXPECT_EQ(profiler->CollectData(&space), "");
  const xspace_bytes::Space read = space.Read();
  EXPECT_NE(read.Find("/host:CPU"), nullptr) << "it is added to";
  EXPECT_THAT(Markers(read), ElementsAre("range"));
  EXPECT_THAT(Collect(*profiler).planes, IsEmpty());
}

TEST(GpuTracerTest, AStartThatFailsLeavesTheRunningOneAlone) {
  auto first = CreateGpuTracer();
  ASSERT_EQ(first->Start(), "");
  auto second = CreateGpuTracer();
  EXPECT_THAT(second->Start(), HasSubstr("already running"));
  EXPECT_EQ(second->Stop(), "");
  EXPECT_THAT(Collect(*second).planes, IsEmpty());
  EXPECT_THAT(second->Start(), HasSubstr("was started before"));
  second.reset();
  EXPECT_TRUE(AnnotationStack::IsEnabled());
  { ScopedAnnotation range("of the first"); }
  EXPECT_EQ(first->Stop(), "");
  EXPECT_THAT(Markers(Collect(*first)), ElementsAre("of the first"));
}

TEST(GpuTracerTest, ASessionOfTheOtherFaceIsLeftAlone) {
  RoctxSession session;
  ASSERT_EQ(session.Start(), "");
  auto profiler = CreateGpuTracer();
  EXPECT_THAT(profiler->Start(), HasSubstr("already running"));
  profiler.reset();
  EXPECT_TRUE(session.IsRunning());
  EXPECT_TRUE(AnnotationStack::IsEnabled());
  EXPECT_EQ(session.Stop(), "");
}

TEST(GpuTracerTest, OneThatIsDestroyedStops) {
  auto profiler = CreateGpuTracer();
  ASSERT_EQ(profiler->Start(), "");
  profiler.reset();
  EXPECT_FALSE(AnnotationStack::IsEnabled());
  auto next = CreateGpuTracer();
  EXPECT_EQ(next->Start(), "");
  EXPECT_EQ(next->Stop(), "");
}

TEST(GpuTracerTest, AnExceptionOfTheCallbackGoesToItsCallerOnly) {
  auto profiler = CreateGpuTracer();
  ASSERT_EQ(profiler->Start(), "");
  { ScopedAnnotation range("range"); }
  ASSERT_EQ(profiler->Stop(), "");
  EXPECT_THROW(profiler->CollectTo([](std::string_view bytes) {
    EXPECT_GT(bytes.size(), 0);
    throw std::runtime_error("no room");
  }),
               std::runtime_error);
  EXPECT_THAT(Collect(*profiler).planes, IsEmpty()) << "it was given";
  EXPECT_EQ(CreateGpuTracer()->Start(), "") << "and everything works as before";
}

TEST(GpuTracerTest, LimitsReachTheTracer) {
  GpuTracerOptions options;
  options.max_callback_api_events = 2;
  options.max_label_bytes = 32;
  auto profiler = CreateGpuTracer(options);
  ASSERT_EQ(profiler->Start(), "");
  for (int nth = 0; nth < 5; ++nth) {
    ScopedAnnotation range(std::string(100, 'x'));
  }
  ASSERT_EQ(profiler->Stop(), "");
  const xspace_bytes::Space space = Collect(*profiler);
  const std::string cut = std::string(32 - 14, 'x') + "...[truncated]";
  EXPECT_THAT(Markers(space), ElementsAre(cut, cut));
  EXPECT_THAT(space.warnings,
              ElementsAre(HasSubstr("3 markers dropped"),
                          HasSubstr("2 markers have labels longer than 32")));
}

TEST(GpuTracerTest, AnyThreadMayCall) {
  auto profiler = CreateGpuTracer();
  std::thread([&] { EXPECT_EQ(profiler->Start(), ""); }).join();
  { ScopedAnnotation range("range"); }
  std::thread([&] { EXPECT_EQ(profiler->Stop(), ""); }).join();
  std::thread([&] {
    EXPECT_THAT(Markers(Collect(*profiler)), ElementsAre("range"));
    profiler.reset();
  }).join();
}

}  // namespace
}  // namespace xprof_roctx
