// The one ROCTX session of a process with XLA's ROCm profiler: what its rocm_tracer.cc and
// rocm_collector.cc call.
//
// XLA configures, starts and stops its profiler one call at a time; IsListening and Labels are for
// any thread. Functions that return a string say what went wrong, or nothing.
#ifndef XPROF_ROCTX_IN_XLA_SESSION_H_
#define XPROF_ROCTX_IN_XLA_SESSION_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "xprof_roctx/roctx_tracer.h"

namespace xprof_roctx::in_xla {

// Never destroyed: callbacks may come while the process ends.
inline RoctxSession& Session() {
  static auto* session = new RoctxSession;
  return *session;
}

// What stood around the HIP calls of the last session. The texts that are looked up are valid until
// the next one starts.
inline AnnotationMap& Labels() {
  static auto* labels = new AnnotationMap(uint64_t{4} << 20);
  return *labels;
}

namespace internal {
inline std::atomic<bool> is_listening{false};
}  // namespace internal

// Whether the last session that was started here records ROCTX calls, so that nobody else needs to;
// also when it has been stopped, until the next one.
inline bool IsListening() {
  return internal::is_listening.load(std::memory_order_relaxed);
}

// Adds the marker services to XLA's context, with these functions of rocprofiler-sdk.
template <typename GetVersion, typename ConfigureCallbackTracing,
          typename GetStatusString>
std::string ConfigureMarkers(uint64_t context, GetVersion* get_version,
                             ConfigureCallbackTracing* configure,
                             GetStatusString* get_status_string) {
  uint32_t major = 0, minor = 0, patch = 0;
  get_version(&major, &minor, &patch);
  return ConfigureMarkerService(context, major * 10000 + minor * 100 + patch,
                                configure, get_status_string);
}

inline std::string StartSession() {
  Labels().Clear();
  std::string problem = Session().Start();
  internal::is_listening = problem.empty();
  return problem;
}

// Does nothing if none has started.
inline std::string StopSession() {
  return Session().IsRunning() ? Session().Stop() : std::string();
}

// Adds the plane of the session that was stopped. False if the XSpace cannot hold it.
template <typename XSpace>
bool ExportSession(XSpace* space) {
  return Session().Export(space);
}

}  // namespace xprof_roctx::in_xla

#endif  // XPROF_ROCTX_IN_XLA_SESSION_H_
