// A profiler as XLA's profiler factories make them, one for each session: ROCTX ranges and marks, HIP
// calls, kernels and copies, all by this project. For programs that have no ROCm profiler of their
// own; a process configures rocprofiler-sdk once, so it is this one or roctx_tracer.h beside XLA's.
//
//   made        Start: started. Stop does nothing; there is nothing to collect.
//   started     Stop: stopped. Collecting is an error, and it goes on.
//   stopped     What was recorded is collected, once. Start is an error: a profiler records once.
//   failed      A Start or a Stop that failed: there is nothing to collect, and no second try.
//
// Functions that return a string say what went wrong, or nothing. Nothing here throws but what
// `append` throws. Any thread may call, one at a time. An object that is destroyed stops.
#ifndef XPROF_ROCTX_GPU_TRACER_H_
#define XPROF_ROCTX_GPU_TRACER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace xprof_roctx {

// Whether kernels, copies and HIP calls are recorded.
enum class GpuWork : uint8_t {
  kAuto,  // if the HIP runtime or rocprofiler-sdk is in the process at the start
  kOn,    // yes: rocprofiler-sdk is loaded if need be, and the trace says if it cannot be
  kOff,
};

struct GpuTracerOptions {
  // Markers, and HIP calls, that are kept; later ones are counted, and told in the trace.
  uint64_t max_callback_api_events = 4 << 20;
  // Likewise kernels and copies.
  uint64_t max_activity_api_events = 4 << 20;
  // Likewise distinct labels of launches, launches with labels, and scope ranges, each.
  uint64_t max_annotation_strings = 4 << 20;
  // Longer labels are cut, visibly.
  size_t max_label_bytes = 64 << 10;
  GpuWork gpu = GpuWork::kAuto;
};

class GpuTracer {
 public:
  explicit GpuTracer(const GpuTracerOptions& options = {});
  ~GpuTracer();
  GpuTracer(const GpuTracer&) = delete;
  GpuTracer& operator=(const GpuTracer&) = delete;

  // From the return on, everything is recorded, and the AnnotationStack is enabled.
  std::string Start();

  // From the return on, nothing is recorded.
  std::string Stop();

  // Gives what was recorded to `append`, as the bytes of a serialized tensorflow.profiler.XSpace,
  // which are valid during the call; empty ones if there is nothing. Not called where it fails.
  template <typename Append>
  std::string CollectTo(Append&& append) {
    Serialized serialized;
    std::string problem = Collect(&serialized);
    if (problem.empty()) std::forward<Append>(append)(serialized.bytes());
    return problem;
  }

  // Adds it to an XSpace of protobuf's, whose limit is 2 GiB.
  template <typename XSpace>
  std::string CollectData(XSpace* space) {
    std::string problem;
    std::string not_collected = CollectTo([&](std::string_view bytes) {
      XSpace collected;
      if (bytes.size() > std::numeric_limits<int>::max() ||
          !collected.ParseFromArray(bytes.data(),
                                    static_cast<int>(bytes.size()))) {
        problem = "the trace has " + std::to_string(bytes.size()) +
                  " bytes, which protobuf cannot read: its limit is 2 GiB";
        return;
      }
      space->MergeFrom(collected);
    });
    return not_collected.empty() ? problem : not_collected;
  }

 private:
  // Bytes in Rust's memory.
  class Serialized {
   public:
    Serialized();
    Serialized(const Serialized&) = delete;
    Serialized& operator=(const Serialized&) = delete;
    ~Serialized();
    std::string_view bytes() const;
    void* vector() { return vector_; }

   private:
    void* const vector_;
  };

  std::string Collect(Serialized* serialized);

  void* const state_;
};

// For a factory: a profiler that is not started.
inline std::unique_ptr<GpuTracer> CreateGpuTracer(
    const GpuTracerOptions& options = {}) {
  return std::make_unique<GpuTracer>(options);
}

}  // namespace xprof_roctx

#endif  // XPROF_ROCTX_GPU_TRACER_H_
