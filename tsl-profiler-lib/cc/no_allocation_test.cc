// The bridge allocates nothing on the push and pop path: counted in malloc itself, which both
// languages use.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "tsl/profiler/lib/nvtx_utils.h"
#include "tsl/profiler/lib/scoped_annotation.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"

// Stand in the place of the C library's own, which they call.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {
std::atomic<int> allocations{0};
}  // namespace

extern "C" {
void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}

namespace tsl {
namespace profiler {
namespace {

// What a program does in its steps: every way to open a range.
void Annotate(StringHandle title) {
  ProfilerDomainHandle domain = DefaultProfilerDomain();
  RangePush(domain, "a title");
  const char* const long_title =
      "a title that is longer than what std::string keeps within itself";
  RangePush(domain, long_title);
  detail::RangePush(domain, title, 1, &domain, sizeof(domain));
  {
    ScopedAnnotation scope(long_title);
    ScopedAnnotation both([=] { return long_title; }, [] { return "range"; });
    EXPECT_EQ(AnnotationStack::Get().empty(), !AnnotationStack::IsEnabled());
    EXPECT_EQ(AnnotationStack::GetScopeRangeIds().empty(),
              !AnnotationStack::IsEnabled());
  }
  RangePop(domain);
  RangePop(domain);
  RangePop(domain);
}

TEST(NoAllocation, OnThePushAndPopPath) {
  const int before = allocations;
  StringHandle title = RegisterString(DefaultProfilerDomain(), "registered");
  ASSERT_GT(allocations, before) << "they are counted";
  for (bool enabled : {false, true}) {
    AnnotationStack::Enable(enabled);
    std::thread([&] {
      Annotate(title);  // the thread's own buffers grow
      const int before = allocations;
      for (int round = 0; round < 1000; ++round) Annotate(title);
      EXPECT_EQ(allocations, before) << "annotations enabled: " << enabled;
    }).join();
  }
  AnnotationStack::Enable(false);
}

}  // namespace
}  // namespace profiler
}  // namespace tsl
