// A profiler of the factory with GPU work, on a stand-in of rocprofiler-sdk: in a program of its own,
// since a process configures an SDK once.
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tsl/profiler/lib/scoped_annotation.h"
#include "xplane-schema/cc/xspace_bytes.h"
#include "xprof_roctx/gpu_tracer.h"
#include "xprof_roctx/xplane_schema.h"

namespace xprof_roctx {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::tsl::profiler::ScopedAnnotation;

uint64_t Now() {
  timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_nsec);
}

TEST(GpuTracerWorkTest, KernelsAreCollectedWithTheRangesOfTheirLaunch) {
  std::string folder = ::testing::TempDir() + "sdk_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  char library[4096];
  ASSERT_NE(realpath("rocm-tracer/libstand_in_sdk.so", library), nullptr);
  const std::string sdk = folder + "/librocprofiler-sdk.so.1";
  ASSERT_EQ(symlink(library, sdk.c_str()), 0);
  setenv("XPROF_ROCTX_SDK_PATH", folder.c_str(), 1);
  void* handle = dlopen(sdk.c_str(), RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto add_agent = reinterpret_cast<void (*)(uint64_t, int, const char*)>(
      dlsym(handle, "stand_in_add_agent"));
  const auto enter = reinterpret_cast<uint64_t (*)(int, uint64_t)>(
      dlsym(handle, "stand_in_hip_enter"));
  const auto dispatch =
      reinterpret_cast<void (*)(uint64_t, uint64_t, uint64_t, uint64_t)>(
          dlsym(handle, "stand_in_dispatch"));
  const auto leave =
      reinterpret_cast<void (*)()>(dlsym(handle, "stand_in_hip_exit"));
  constexpr uint64_t kGpu = 71;
  constexpr int kHipLaunchKernel = 214;
  add_agent(kGpu, 2, "gfx942");

  const auto trace = [&](GpuWork gpu) {
    GpuTracerOptions options;
    options.gpu = gpu;
    auto profiler = CreateGpuTracer(options);
    EXPECT_EQ(profiler->Start(), "");
    {
      ScopedAnnotation range("forward");
      enter(kHipLaunchKernel, 1);
      const uint64_t start = Now();
      dispatch(kGpu, 5, start, start + 1);
      leave();
    }
    EXPECT_EQ(profiler->Stop(), "");
    xspace_bytes::FakeXSpace space;
    EXPECT_EQ(profiler->CollectData(&space), "");
    return space.Read();
  };

  const xspace_bytes::Space space = trace(GpuWork::kOn);
  EXPECT_NE(space.Find(kRoctxPlaneName), nullptr);
  const xspace_bytes::Plane* device = space.Find("/device:GPU:0");
  ASSERT_NE(device, nullptr);
  ASSERT_THAT(device->lines, SizeIs(1));
  ASSERT_THAT(device->lines[0].events, SizeIs(1));
  EXPECT_EQ(device->lines[0].events[0].stats.at("nvtx_range"), "forward");
  EXPECT_EQ(device->lines[0].events[0].stats.at("tf_op"), "forward");
  EXPECT_NE(space.Find("/host:ROCTRACER"), nullptr);

  const xspace_bytes::Space without = trace(GpuWork::kOff);
  EXPECT_NE(without.Find(kRoctxPlaneName), nullptr);
  EXPECT_EQ(without.Find("/device:GPU:0"), nullptr);
  EXPECT_EQ(without.Find("/host:ROCTRACER"), nullptr);
  EXPECT_THAT(without.warnings, IsEmpty());
}

}  // namespace
}  // namespace xprof_roctx
