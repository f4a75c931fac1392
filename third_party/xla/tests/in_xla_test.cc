// What the lines call that apply.py puts into XLA, in the order in which XLA's profiler calls it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tsl/profiler/lib/range_annotations.h"
#include "tsl/profiler/lib/scoped_annotation.h"
#include "xplane-schema/cc/xspace_bytes.h"
#include "xprof_roctx/in_xla/owned_annotation.h"
#include "xprof_roctx/in_xla/session.h"
#include "xprof_roctx/xplane_schema.h"

#if !defined(XPROF_ROCTX_IN_XLA)
#error "the targets do not switch on what apply.py has put in"
#endif

namespace xprof_roctx::in_xla {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using ::tsl::profiler::AnnotationStack;
using ::tsl::profiler::ScopedAnnotation;

xspace_bytes::Space Export() {
  xspace_bytes::FakeXSpace space;
  EXPECT_TRUE(ExportSession(&space));
  return space.Read();
}

// The names of the plane's events, if it is the only one.
std::vector<std::string> MarkerNames(const xspace_bytes::Space& space) {
  std::vector<std::string> labels;
  EXPECT_THAT(space.planes, ::testing::SizeIs(1));
  for (const xspace_bytes::Plane& plane : space.planes) {
    EXPECT_EQ(plane.name, kRoctxPlaneName);
    for (const xspace_bytes::Line& line : plane.lines) {
      for (const std::string& name : line.EventNames()) labels.push_back(name);
    }
  }
  return labels;
}

TEST(SessionInXla, StopAndExportWithoutAStartDoNothing) {
  EXPECT_FALSE(IsListening());
  EXPECT_EQ(StopSession(), "");
  EXPECT_THAT(Export().planes, IsEmpty());
}

TEST(SessionInXla, RecordsFromStartToStopAndExportsOnce) {
  ASSERT_EQ(StartSession(), "");
  EXPECT_TRUE(IsListening());
  EXPECT_TRUE(AnnotationStack::IsEnabled());
  {
    ScopedAnnotation step("step");
    tsl::profiler::RangePush(tsl::profiler::DefaultProfilerDomain(), "inner");
    tsl::profiler::RangePop(tsl::profiler::DefaultProfilerDomain());
  }
  EXPECT_EQ(StopSession(), "");
  EXPECT_EQ(StopSession(), "") << "XLA may stop what has stopped";
  EXPECT_TRUE(IsListening()) << "a listener of XLA's own stays silent";
  EXPECT_THAT(MarkerNames(Export()), ElementsAre("step", "inner"));
  EXPECT_THAT(Export().planes, IsEmpty());
}

TEST(SessionInXla, HipCallsGetTheLabelsOfTheirSessionOnly) {
  ASSERT_EQ(StartSession(), "");
  {
    ScopedAnnotation step("first");
    Labels().AddCurrent(7);
  }
  EXPECT_EQ(StopSession(), "");
  EXPECT_EQ(Labels().LookUpRoctxRange(7), "first")
      << "records arrive after the stop";
  ASSERT_EQ(StartSession(), "");
  EXPECT_EQ(Labels().LookUpRoctxRange(7), "")
      << "what an id was in one session is nothing in the next";
  EXPECT_EQ(StopSession(), "");
  Export();
}

TEST(SessionInXla, AStartThatFailsSaysWhyAndLeavesTheListeningToOthers) {
  RoctxSession other;
  ASSERT_EQ(other.Start(), "");
  EXPECT_THAT(StartSession(), HasSubstr("already running"));
  EXPECT_FALSE(IsListening());
  EXPECT_EQ(StopSession(), "");
  EXPECT_THAT(Export().planes, IsEmpty());
  EXPECT_EQ(other.Stop(), "");
}

TEST(OwnedAnnotationTest, LivesFromStartToStopOnWhicheverThread) {
  ASSERT_EQ(StartSession(), "");
  OwnedAnnotation outer, inner, never;
  outer.Start([] { return "outer#step_num=3#"; });
  EXPECT_EQ(AnnotationStack::Get(), "outer#step_num=3#");
  inner.Start([] { return "inner"; });
  EXPECT_EQ(CurrentRoctxLabel(), "inner");
  std::thread([&] { outer.Stop(); }).join();
  inner.Stop();
  inner.Stop();
  never.Stop();
  EXPECT_EQ(CurrentRoctxLabel(), "");
  EXPECT_EQ(AnnotationStack::Get(), "");
  {
    OwnedAnnotation destroyed;
    destroyed.Start([] { return "destroyed"; });
  }
  EXPECT_EQ(StopSession(), "");
  EXPECT_THAT(MarkerNames(Export()),
              UnorderedElementsAre("outer#step_num=3#", "inner", "destroyed"));
}

// An SDK that refuses.
uint32_t asked = 0;
int Refuse(uint64_t context, int, const int*, size_t, const void*, void*) {
  EXPECT_EQ(context, 42);
  ++asked;
  return 16;
}
const char* StatusString(int) { return "configuration is locked"; }

TEST(SessionInXla, MarkersThatTheSdkRefusesAreTold) {
  const auto version = [](uint32_t* major, uint32_t* minor, uint32_t* patch) {
    *major = 1, *minor = 0, *patch = 3;
    return 0;
  };
  int (*get_version)(uint32_t*, uint32_t*, uint32_t*) = version;
  const std::string problem =
      ConfigureMarkers(42, get_version, &Refuse, &StatusString);
  EXPECT_GT(asked, 0);
  EXPECT_THAT(problem, HasSubstr("returned 16 (configuration is locked)"));
}

}  // namespace
}  // namespace xprof_roctx::in_xla
