// nvtx_utils where there is no profiler to tell: nothing happens, and annotations go to the
// annotation stack.
#include <cstdint>

#include "gtest/gtest.h"
#include "tsl/profiler/lib/nvtx_utils.h"
#include "tsl/profiler/lib/scoped_annotation.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"
#include "xprof_roctx/traceme_wrapper_state.h"

namespace tsl {
namespace profiler {
namespace {

struct Payload {
  static uint64_t NvtxSchemaId() { return 0; }
};

TEST(NvtxUtilsStub, ThereIsNoDomainAndHandlesAreNull) {
  ProfilerDomainHandle domain = DefaultProfilerDomain();
  EXPECT_EQ(domain, nullptr);
  EXPECT_EQ(RegisterString(domain, "title"), nullptr);
  EXPECT_EQ(RegisterSchema(domain, nullptr), 0);
}

TEST(NvtxUtilsStub, CallsLeaveTheAnnotationStackAlone) {
  AnnotationStack::Enable(true);
  ScopedAnnotation annotation("annotation");
  RangePush(nullptr, "range");
  RangePush(nullptr, nullptr, Payload{});
  NameCurrentThread("thread");
  NameDevice(0, "device");
  NameStream(nullptr, "stream");
  MarkMemoryInitialized(nullptr, 0, nullptr);
  EXPECT_EQ(AnnotationStack::Get(), "annotation");
  RangePop(nullptr);
  RangePop(nullptr);
  RangePop(nullptr);
  EXPECT_EQ(AnnotationStack::Get(), "annotation");
  AnnotationStack::Enable(false);
}

TEST(NvtxUtilsStub, AnnotationsThatObjectsOwnFeedTheAnnotationStack) {
  AnnotationStack::Enable(true);
  {
    xprof_roctx::TraceMeWrapperState outer("outer");
    xprof_roctx::TraceMeWrapperState inner("inner");
    EXPECT_EQ(AnnotationStack::Get(), "outer::inner");
    outer.Stop();
    EXPECT_EQ(AnnotationStack::Get(), "outer::inner");
    inner.Stop();
    EXPECT_EQ(AnnotationStack::Get(), "");
  }
  AnnotationStack::Enable(false);
}

}  // namespace
}  // namespace profiler
}  // namespace tsl
