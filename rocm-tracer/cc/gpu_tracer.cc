#include "xprof_roctx/gpu_tracer.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "rocm-tracer/rocm_tracer_cc/src/lib.rs.h"

namespace xprof_roctx {
namespace {

using Vector = rust::Vec<uint8_t>;

bridge::Profiler& ProfilerOf(void* state) {
  return *static_cast<bridge::Profiler*>(state);
}

bridge::GpuWork BridgeGpuWork(GpuWork work) {
  switch (work) {
    case GpuWork::kOn:
      return bridge::GpuWork::On;
    case GpuWork::kOff:
      return bridge::GpuWork::Off;
    case GpuWork::kAuto:
      break;
  }
  return bridge::GpuWork::Auto;
}

}  // namespace

GpuTracer::GpuTracer(const GpuTracerOptions& options)
    : state_(bridge::new_profiler({options.max_callback_api_events,
                                   options.max_activity_api_events,
                                   options.max_annotation_strings,
                                   options.max_label_bytes,
                                   BridgeGpuWork(options.gpu)})
                 .into_raw()) {}

GpuTracer::~GpuTracer() {
  rust::Box<bridge::Profiler>::from_raw(&ProfilerOf(state_));
}

std::string GpuTracer::Start() {
  return std::string(ProfilerOf(state_).start());
}

std::string GpuTracer::Stop() { return std::string(ProfilerOf(state_).stop()); }

std::string GpuTracer::Collect(Serialized* serialized) {
  return std::string(ProfilerOf(state_).collect(
      *static_cast<Vector*>(serialized->vector())));
}

GpuTracer::Serialized::Serialized() : vector_(new Vector) {}

GpuTracer::Serialized::~Serialized() { delete static_cast<Vector*>(vector_); }

std::string_view GpuTracer::Serialized::bytes() const {
  const auto& vector = *static_cast<const Vector*>(vector_);
  return {reinterpret_cast<const char*>(vector.data()), vector.size()};
}

}  // namespace xprof_roctx
