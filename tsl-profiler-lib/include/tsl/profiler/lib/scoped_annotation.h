// Annotations that last as long as a scope.
//
// The interface is TSL's, name for name; TSL's own header, unmodified, works on the same libraries.
// This one differs in one thing: where an annotation has a text for the AnnotationStack and a title
// for the range, each gets its own.
//
//   {
//     ScopedAnnotation annotation("my kernels");
//     Kernel1<<<x, y>>>();  // labelled "my kernels"
//   }
//   {
//     // The text is made only where somebody takes it.
//     ScopedAnnotation annotation([&] { return absl::StrCat("layer ", i); });
//   }
#ifndef TENSORFLOW_TSL_PROFILER_LIB_SCOPED_ANNOTATION_H_
#define TENSORFLOW_TSL_PROFILER_LIB_SCOPED_ANNOTATION_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "tsl/profiler/lib/nvtx_utils.h"
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"
#include "xprof_roctx/annotation_stack_ext.h"

namespace tsl::profiler {

// Annotates what this thread does until PopAnnotation(). Where ranges are on, opens one, which also
// feeds the AnnotationStack; where they are off, feeds the AnnotationStack, if that is enabled. The
// generator returns a `const char*` or a `std::string`. If it throws, nothing has been pushed.
template <typename Generator>
void PushAnnotation(const Generator& generator) {
  if (ProfilerDomainHandle domain = DefaultProfilerDomain();
      domain != nullptr) {
    RangePush(domain, generator());
  } else if (AnnotationStack::IsEnabled()) {
    AnnotationStack::PushAnnotation(
        static_cast<absl::string_view>(generator()));
  }
}

// The same with a generator for the AnnotationStack's text and one for the range, which returns
// whatever there is a RangePush() for.
template <typename AnnotationGenerator, typename RangeGenerator>
void PushAnnotation(const AnnotationGenerator& annotation_generator,
                    const RangeGenerator& range_generator) {
  const bool enabled = AnnotationStack::IsEnabled();
  ProfilerDomainHandle domain = DefaultProfilerDomain();
  if (!enabled) {
    if (domain != nullptr) RangePush(domain, range_generator());
    return;
  }
  const auto& annotation = annotation_generator();
  const absl::string_view text(annotation);
  if (domain == nullptr) {
    AnnotationStack::PushAnnotation(text);
    return;
  }
  const size_t depth = AnnotationStack::GetScopeRangeIds().size();
  RangePush(domain, range_generator());
  if (AnnotationStack::GetScopeRangeIds().size() > depth) {
    xprof_roctx::ReplaceLastAnnotation(text);
  }
}

inline void PushAnnotation(const char* name) {
  PushAnnotation([name] { return name; });
}
inline void PushAnnotation(const std::string& name) {
  PushAnnotation([&name]() -> const std::string& { return name; });
}

// Ends the innermost annotation of this thread.
inline void PopAnnotation() {
  if (ProfilerDomainHandle domain = DefaultProfilerDomain();
      domain != nullptr) {
    RangePop(domain);
  } else if (AnnotationStack::IsEnabled()) {
    AnnotationStack::PopAnnotation();
  }
}

// An annotation from construction to destruction, on one thread.
class ScopedAnnotation {
 public:
  template <typename Generator>
  explicit ScopedAnnotation(Generator&& generator) {
    PushAnnotation(std::forward<Generator>(generator));
  }

  template <typename AnnotationGenerator, typename RangeGenerator>
  explicit ScopedAnnotation(AnnotationGenerator&& annotation_generator,
                            RangeGenerator&& range_generator) {
    PushAnnotation(std::forward<AnnotationGenerator>(annotation_generator),
                   std::forward<RangeGenerator>(range_generator));
  }

  ~ScopedAnnotation() { PopAnnotation(); }

  ScopedAnnotation(const ScopedAnnotation&) = delete;
  ScopedAnnotation& operator=(const ScopedAnnotation&) = delete;

  // Whether a profiler wants annotations for GPU work.
  static bool IsEnabled() { return AnnotationStack::IsEnabled(); }
};

}  // namespace tsl::profiler

#endif  // TENSORFLOW_TSL_PROFILER_LIB_SCOPED_ANNOTATION_H_
