// Post-processing of one host's XSpace, as a profiler does it when a session has ended: the host's
// planes, /host:ROCTX among them, merged into /host:CPU; times counted from the session's start;
// events sorted. Doing it again changes nothing.
#ifndef XPROF_ROCTX_POST_PROCESS_H_
#define XPROF_ROCTX_POST_PROCESS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace xprof_roctx {

// Takes and gives a serialized tensorflow.profiler.XSpace; fields that are not known here are kept.
// Start and stop are the session's, in wall-clock ns. Returns what went wrong, or nothing; `processed`
// is changed only where nothing went wrong, and may be what `serialized` refers to.
std::string PostProcessSerializedXSpace(std::string_view serialized,
                                        uint64_t start_time_ns,
                                        uint64_t stop_time_ns,
                                        std::string* processed);

// The same with an XSpace of protobuf's.
template <typename XSpace>
std::string PostProcessSingleHostXSpace(XSpace* space, uint64_t start_time_ns,
                                        uint64_t stop_time_ns) {
  std::string bytes;
  if (!space->SerializeToString(&bytes)) {
    return "the XSpace cannot be serialized: it is larger than 2 GiB";
  }
  std::string problem =
      PostProcessSerializedXSpace(bytes, start_time_ns, stop_time_ns, &bytes);
  if (!problem.empty()) return problem;
  XSpace processed;
  if (!processed.ParseFromString(bytes)) {
    return "the post-processed XSpace cannot be parsed: it is larger than 2 GiB";
  }
  space->Swap(&processed);
  return "";
}

}  // namespace xprof_roctx

#endif  // XPROF_ROCTX_POST_PROCESS_H_
