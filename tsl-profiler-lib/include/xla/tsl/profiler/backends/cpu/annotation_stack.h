// The stack of nested labels that each thread is in: what a profiler writes on the GPU work that the
// thread launches.
//
// The interface and the guard are TSL's, name for name. The stack itself is in Rust, one a process for callers in
// both languages.
#ifndef XLA_TSL_PROFILER_BACKENDS_CPU_ANNOTATION_STACK_H_
#define XLA_TSL_PROFILER_BACKENDS_CPU_ANNOTATION_STACK_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tsl {
namespace profiler {

// Every function acts on the calling thread's stack, but Enable and IsEnabled, which are for the
// whole process. None of them locks; none throws, unless a thread's first Get() finds no memory.
class AnnotationStack {
 public:
  // Adds a label, of any bytes, joined to those below it by "::", and gives it a scope range id.
  // Callers look at IsEnabled() first: this does not.
  static void PushAnnotation(absl::string_view name);

  // Takes the last label off. On an empty stack, does nothing.
  static void PopAnnotation();

  // The joined label. The reference is valid and what it refers to unchanged until this thread's
  // next push or pop, or its next Get() after another state was set by Enable().
  static const std::string& Get();

  // The scope range ids, outermost first; valid as long as what Get() returns.
  static absl::Span<const int64_t> GetScopeRangeIds();

  // Switches annotations on or off. A change empties every thread's stack, each at its next call.
  static void Enable(bool enable);

  // Whether a profiler wants annotations: one atomic load, inline.
  static bool IsEnabled() {
    return (generation_.load(std::memory_order_acquire) & 1) != 0;
  }

 private:
  AnnotationStack() = default;

  // Odd while annotations are enabled; every change of state makes another. Follows the counter that
  // the Rust side reads.
  static std::atomic<int> generation_;
};

}  // namespace profiler
}  // namespace tsl

#endif  // XLA_TSL_PROFILER_BACKENDS_CPU_ANNOTATION_STACK_H_
