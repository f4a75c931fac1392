// The state that XLA's Python `TraceMe` object (xla/python/profiler.cc, class TraceMeWrapper) needs
// beside its host event: an annotation that the object owns.
#ifndef XPROF_ROCTX_TRACEME_WRAPPER_STATE_H_
#define XPROF_ROCTX_TRACEME_WRAPPER_STATE_H_

#include <string_view>
#include <utility>

namespace xprof_roctx {

// Opens a range and pushes an annotation, as ScopedAnnotation does, on the thread that constructs
// it. It may be stopped and destroyed by any thread, in any order with others, and more than once:
// it only ever ends its own range. Stopped while others that were opened later on its thread are
// open, the range ends when they have ended; stopped on another thread, it ends at its own thread's
// next push or pop.
class TraceMeWrapperState {
 public:
  // The label may carry metadata, as TraceMeEncode lays it out.
  explicit TraceMeWrapperState(std::string_view label);
  ~TraceMeWrapperState();

  TraceMeWrapperState(TraceMeWrapperState&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  TraceMeWrapperState& operator=(TraceMeWrapperState&& other) noexcept {
    TraceMeWrapperState taken(std::move(other));
    std::swap(state_, taken.state_);  // and `taken` ends what was here
    return *this;
  }

  // Ends the annotation; the first call counts. Does nothing after a move.
  void Stop();

 private:
  void* state_;
};

}  // namespace xprof_roctx

#endif  // XPROF_ROCTX_TRACEME_WRAPPER_STATE_H_
