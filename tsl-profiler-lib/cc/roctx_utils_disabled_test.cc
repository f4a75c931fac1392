// nvtx_utils on ROCTX where XLA_ROCM_ENABLE_ROCTX switches ranges off: annotations go to the
// annotation stack alone, as without ROCTX.
#include <stdlib.h>

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tsl-profiler-lib/cc/recording_roctx.h"
#include "tsl/profiler/lib/nvtx_utils.h"
#include "tsl/profiler/lib/scoped_annotation.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"
#include "xprof_roctx/traceme_wrapper_state.h"

namespace tsl {
namespace profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Before anything asks for the domain.
const bool kSwitchedOff = [] {
  recording_roctx::Use();
  return setenv("XLA_ROCM_ENABLE_ROCTX", "false", /*overwrite=*/1) == 0;
}();

struct Payload {
  static uint64_t NvtxSchemaId() { return 0; }
};

TEST(RoctxUtilsDisabled, TheDomainIsNullAndStaysSo) {
  ASSERT_TRUE(kSwitchedOff);
  EXPECT_EQ(DefaultProfilerDomain(), nullptr);
  setenv("XLA_ROCM_ENABLE_ROCTX", "1", /*overwrite=*/1);
  EXPECT_EQ(DefaultProfilerDomain(), nullptr);
}

TEST(RoctxUtilsDisabled, ScopedAnnotationsFeedTheAnnotationStackAlone) {
  AnnotationStack::Enable(true);
  {
    ScopedAnnotation outer("outer");
    ScopedAnnotation inner([] { return "inner"; }, [] { return "range"; });
    xprof_roctx::TraceMeWrapperState object("object");
    EXPECT_EQ(AnnotationStack::Get(), "outer::inner::object");
    object.Stop();
    EXPECT_EQ(AnnotationStack::Get(), "outer::inner");
  }
  EXPECT_EQ(AnnotationStack::Get(), "");
  AnnotationStack::Enable(false);
  EXPECT_THAT(recording_roctx::TakeCalls(), IsEmpty());
}

TEST(RoctxUtilsDisabled, RangesWithoutADomainDoNothing) {
  AnnotationStack::Enable(true);
  AnnotationStack::PushAnnotation("stays");
  RangePush(nullptr, "range");
  StringHandle title = RegisterString(nullptr, "title");
  EXPECT_EQ(title, nullptr);
  RangePush(nullptr, title, Payload{});
  EXPECT_EQ(RegisterSchema(nullptr, nullptr), 0);
  for (int nth = 0; nth < 3; ++nth) RangePop(nullptr);
  EXPECT_EQ(AnnotationStack::Get(), "stays");
  AnnotationStack::PopAnnotation();
  AnnotationStack::Enable(false);
  EXPECT_THAT(recording_roctx::TakeCalls(), IsEmpty());
}

TEST(RoctxUtilsDisabled, NamesReachRoctxAllTheSame) {
  NameCurrentThread("worker");
  EXPECT_THAT(recording_roctx::TakeCalls(), ElementsAre("name thread worker"));
}

}  // namespace
}  // namespace profiler
}  // namespace tsl
