// The annotation that XLA's Python `TraceMe` object has beside its host event: for
// xla/python/profiler.cc.
#ifndef XPROF_ROCTX_IN_XLA_OWNED_ANNOTATION_H_
#define XPROF_ROCTX_IN_XLA_OWNED_ANNOTATION_H_

#include <optional>
#include <string>

#include "tsl/profiler/lib/nvtx_utils.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"
#include "xprof_roctx/traceme_wrapper_state.h"

namespace xprof_roctx::in_xla {

// Empty until it is started; ended by Stop or the destructor, from any thread.
class OwnedAnnotation {
 public:
  // Opens a range and pushes an annotation, with the text that `label` makes; where nobody takes
  // either, does nothing and makes no text.
  template <typename Label>
  void Start(const Label& label) {
    if (tsl::profiler::DefaultProfilerDomain() == nullptr &&
        !tsl::profiler::AnnotationStack::IsEnabled()) {
      return;
    }
    const std::string text = label();
    state_.emplace(text);
  }

  // The first call counts.
  void Stop() {
    if (state_.has_value()) state_->Stop();
  }

 private:
  std::optional<TraceMeWrapperState> state_;
};

}  // namespace xprof_roctx::in_xla

#endif  // XPROF_ROCTX_IN_XLA_OWNED_ANNOTATION_H_
