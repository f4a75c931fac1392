// What a range costs while nobody profiles, through the bridge, beside plain C++ that makes the same
// two checks: whether annotations are wanted, and whether somebody listens to ROCTX.
//
//   bazel run -c opt //tsl-profiler-lib:range_benchmark
#include <atomic>
#include <cstdlib>
#include <string>

#include "benchmark/benchmark.h"
#include "tsl/profiler/lib/nvtx_utils.h"
#include "tsl/profiler/lib/scoped_annotation.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"

namespace {

using ::tsl::profiler::AnnotationStack;
using ::tsl::profiler::DefaultProfilerDomain;
using ::tsl::profiler::RangePop;
using ::tsl::profiler::RangePush;
using ::tsl::profiler::ScopedAnnotation;

std::atomic<int> plain_generation{0};
std::atomic<bool> plain_listener{false};
thread_local int plain_depth = 0;

[[gnu::noinline]] void PlainPush(const char* title) {
  if (plain_generation.load(std::memory_order_acquire) & 1) std::abort();
  if (plain_listener.load(std::memory_order_relaxed)) std::abort();
  benchmark::DoNotOptimize(title);
}

[[gnu::noinline]] void PlainPop() {
  if (plain_generation.load(std::memory_order_acquire) & 1) std::abort();
  if (plain_listener.load(std::memory_order_relaxed)) std::abort();
}

// ROCTX returns the depth, so it must count; so does nvtx_utils, for objects that own ranges.
[[gnu::noinline]] void PlainCountedPush(const char* title) {
  PlainPush(title);
  benchmark::DoNotOptimize(++plain_depth);
}

[[gnu::noinline]] void PlainCountedPop() {
  PlainPop();
  benchmark::DoNotOptimize(--plain_depth);
}

void BM_PlainTwoChecks(benchmark::State& state) {
  for (auto _ : state) {
    PlainPush("a label of usual length");
    PlainPop();
  }
}
BENCHMARK(BM_PlainTwoChecks);

void BM_PlainTwoChecksAndADepth(benchmark::State& state) {
  for (auto _ : state) {
    PlainCountedPush("a label of usual length");
    PlainCountedPop();
  }
}
BENCHMARK(BM_PlainTwoChecksAndADepth);

void BM_RangePushPop(benchmark::State& state) {
  auto domain = DefaultProfilerDomain();
  for (auto _ : state) {
    RangePush(domain, "a label of usual length");
    RangePop(domain);
  }
}
BENCHMARK(BM_RangePushPop);

void BM_RangePushPopAnnotationsEnabled(benchmark::State& state) {
  AnnotationStack::Enable(true);
  auto domain = DefaultProfilerDomain();
  for (auto _ : state) {
    RangePush(domain, "a label of usual length");
    RangePop(domain);
  }
  AnnotationStack::Enable(false);
}
BENCHMARK(BM_RangePushPopAnnotationsEnabled);

void BM_ScopedAnnotation(benchmark::State& state) {
  for (auto _ : state) {
    ScopedAnnotation annotation("a label of usual length");
  }
}
BENCHMARK(BM_ScopedAnnotation);

void BM_DefaultProfilerDomain(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(DefaultProfilerDomain());
}
BENCHMARK(BM_DefaultProfilerDomain);

void BM_AnnotationStackIsEnabled(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(AnnotationStack::IsEnabled());
}
BENCHMARK(BM_AnnotationStackIsEnabled);

void BM_AnnotationStackGet(benchmark::State& state) {
  AnnotationStack::Enable(true);
  AnnotationStack::PushAnnotation("train_step");
  AnnotationStack::PushAnnotation("#hlo_op=fusion.1,hlo_module=jit_step#");
  for (auto _ : state) benchmark::DoNotOptimize(AnnotationStack::Get().data());
  AnnotationStack::Enable(false);
}
BENCHMARK(BM_AnnotationStackGet);

}  // namespace

BENCHMARK_MAIN();
