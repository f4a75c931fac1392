// The marker side of a ROCm profiler: what XLA's rocm_tracer.cc and rocm_collector.cc call so that
// ROCTX ranges and marks get into their traces.
//
// Their tracer keeps what it does: it configures rocprofiler-sdk, and records kernels, copies and HIP
// calls. It calls here at five points:
//
//   rocprofiler_configure       AskForTables
//   its tool initialization     ConfigureMarkerService, with its own context
//   the HIP API callback        AnnotationMap::AddCurrent, on enter
//   Enable and Disable          RoctxSession::Start and Stop
//   Export                      RoctxSession::Export
//
// Losing ROCTX rows is acceptable, losing GPU profiling is not: whatever fails here returns why, as a
// text for a log, and the rest goes on. Nothing here throws, and any thread may call anything, but
// one object only one thread at a time, AnnotationMap excepted.
#ifndef XPROF_ROCTX_ROCTX_TRACER_H_
#define XPROF_ROCTX_ROCTX_TRACER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xprof_roctx {

// To be called within the tool's rocprofiler_configure, with the version that it is given and with
// rocprofiler_at_intercept_table_registration: asks to be shown ROCTX's dispatch tables, by which
// listening costs a few nanoseconds a call. False if this SDK does not show them.
bool AskForTables(uint32_t sdk_version, const void* at_intercept_registration);

template <typename AtInterceptRegistration>
bool AskForTables(uint32_t sdk_version, AtInterceptRegistration* function) {
  return AskForTables(sdk_version, reinterpret_cast<const void*>(function));
}

// To be called within the tool's initialization, with rocprofiler_configure_callback_tracing_service
// and rocprofiler_get_status_string: adds the marker services to the tool's context, which it starts
// and stops with its sessions. Does nothing if tables are shown. Returns what went wrong, or nothing.
std::string ConfigureMarkerService(uint64_t context, uint32_t sdk_version,
                                   const void* configure_callback_tracing,
                                   const void* get_status_string);

template <typename ConfigureCallbackTracing, typename GetStatusString>
std::string ConfigureMarkerService(uint64_t context, uint32_t sdk_version,
                                   ConfigureCallbackTracing* configure,
                                   GetStatusString* get_status_string) {
  return ConfigureMarkerService(
      context, sdk_version, reinterpret_cast<const void*>(configure),
      reinterpret_cast<const void*>(get_status_string));
}

// The label of the innermost ROCTX range that the calling thread has open in the running session;
// empty if there is none. A copy: valid, whatever other threads and later ROCTX calls do, until this
// thread asks again or ends.
std::string_view CurrentRoctxLabel();

struct RoctxSessionOptions {
  // Ranges and marks that are kept; later ones are counted, and told in the trace.
  uint64_t max_callback_api_events = 4 << 20;
  // Longer labels are cut, visibly.
  size_t max_label_bytes = 64 << 10;
};

// A session of listening, and then what it captured. One runs at a time in a process. An object that
// is destroyed stops its session.
class RoctxSession {
 public:
  RoctxSession();
  ~RoctxSession();
  RoctxSession(RoctxSession&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  RoctxSession& operator=(RoctxSession&& other) noexcept {
    RoctxSession taken(std::move(other));
    std::swap(state_, taken.state_);
    return *this;
  }

  // From the return on, every ROCTX call of the process is recorded, and the AnnotationStack is
  // enabled. Returns what went wrong, or nothing; a capture that is here is dropped only if it
  // starts.
  std::string Start(const RoctxSessionOptions& options = {});

  bool IsRunning() const;

  // From the return on, nothing is recorded. Returns what went wrong, or nothing.
  std::string Stop();

  // Ranges and marks that were captured and not exported yet.
  size_t MarkerCount() const;

  // The capture as a serialized tensorflow.profiler.XSpace: the plane /host:ROCTX, if there is a
  // marker, and warnings. The capture is gone then; without one it is empty. Lines have the session's
  // start, in wall-clock ns, as their timestamp.
  std::string ExportSerialized();

  // Gives the same to `append`, as bytes that are valid during the call, without a copy.
  template <typename Append>
  void ExportTo(Append&& append) {
    const Serialized serialized = TakeSerialized();
    std::forward<Append>(append)(serialized.bytes());
  }

  // Adds the same to an XSpace of protobuf's. False if that cannot hold it: its limit is 2 GiB.
  template <typename XSpace>
  bool Export(XSpace* space) {
    XSpace captured;
    const Serialized serialized = TakeSerialized();
    const std::string_view bytes = serialized.bytes();
    if (bytes.size() > std::numeric_limits<int>::max() ||
        !captured.ParseFromArray(bytes.data(),
                                 static_cast<int>(bytes.size()))) {
      return false;
    }
    space->MergeFrom(captured);
    return true;
  }

 private:
  // Bytes in Rust's memory.
  class Serialized {
   public:
    explicit Serialized(void* vector) : vector_(vector) {}
    Serialized(const Serialized&) = delete;
    ~Serialized();
    std::string_view bytes() const;

   private:
    void* vector_;
  };

  Serialized TakeSerialized();

  void* state_;
};

// What stood around HIP calls, by correlation id. Filled where the call is made, read where records
// of the work that it started arrive. Any threads may use one at once.
class AnnotationMap {
 public:
  // At most so many distinct strings, calls and scope ranges, each.
  explicit AnnotationMap(uint64_t max_size);
  ~AnnotationMap();
  AnnotationMap(const AnnotationMap&) = delete;
  AnnotationMap& operator=(const AnnotationMap&) = delete;

  // Remembers what stands around the HIP call that the calling thread enters: its AnnotationStack,
  // its innermost ROCTX range and its scope range ids. Does nothing while no session runs.
  void AddCurrent(uint64_t correlation_id);

  // The same with what is given. Nothing is remembered if both texts are empty.
  void Add(uint64_t correlation_id, std::string_view annotation,
           std::string_view roctx_range, const int64_t* scope_range_ids,
           size_t depth);
  void Add(uint64_t correlation_id, std::string_view annotation,
           std::string_view roctx_range = {}) {
    Add(correlation_id, annotation, roctx_range, nullptr, 0);
  }

  // Empty, or 0, if there is nothing. Texts are valid until Clear().
  std::string_view LookUp(uint64_t correlation_id) const;
  std::string_view LookUpRoctxRange(uint64_t correlation_id) const;
  int64_t LookUpScopeRangeId(uint64_t correlation_id) const;

  // Takes out the tree of scope ranges: pairs of an id and its parent's.
  std::vector<std::pair<int64_t, int64_t>> TakeScopeRangeIdTree();

  // Calls and strings that found the map full.
  uint64_t Refused() const;

  void Clear();

 private:
  void* const state_;
};

}  // namespace xprof_roctx

#endif  // XPROF_ROCTX_ROCTX_TRACER_H_
