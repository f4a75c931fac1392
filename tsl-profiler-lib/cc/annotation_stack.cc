// The C++ face of the annotation stack. It is written against the header's public part and the name
// of its counter only, so that TSL's own header, unmodified, serves as well.
#include "xla/tsl/profiler/backends/cpu/annotation_stack.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tsl-profiler-lib/annotation_stack_cc/src/lib.rs.h"
#include "xprof_roctx/annotation_stack_ext.h"

namespace tsl {
namespace profiler {
namespace {

namespace bridge = ::xprof_roctx::annotation_stack;

static_assert(sizeof(std::atomic<int>) == sizeof(int32_t) &&
                  std::atomic<int>::is_always_lock_free,
              "Rust's AtomicI32 must be able to write it");

const uint8_t* Bytes(absl::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

// Has the Rust side keep `word` equal to its generation from now on, and returns that.
int Mirror(std::atomic<int>* word) {
  bridge::mirror_generation(reinterpret_cast<int32_t*>(word));
  return word->load(std::memory_order_acquire);
}

}  // namespace

// Before this has run, it is 0: annotations are off.
std::atomic<int> AnnotationStack::generation_{
    Mirror(&AnnotationStack::generation_)};

void AnnotationStack::PushAnnotation(absl::string_view name) {
  bridge::push(Bytes(name), name.size());
}

void AnnotationStack::PopAnnotation() { bridge::pop(); }

const std::string& AnnotationStack::Get() {
  // Rust's label is no std::string: each thread has a copy, until its thread-local values are
  // destroyed. The flag has no destructor, so it can be read after that.
  static const std::string* const none = new std::string();
  static thread_local bool ended = false;
  struct Copy {
    std::string label;
    ~Copy() { ended = true; }
  };
  if (ended) return *none;
  static thread_local Copy copy;
  const bridge::View view = bridge::view();
  copy.label.assign(reinterpret_cast<const char*>(view.label), view.label_size);
  return copy.label;
}

absl::Span<const int64_t> AnnotationStack::GetScopeRangeIds() {
  const bridge::View view = bridge::view();
  return absl::Span<const int64_t>(view.scope_range_ids, view.depth);
}

void AnnotationStack::Enable(bool enable) {
  // A static initializer of another file can come here before this file's own.
  bridge::mirror_generation(reinterpret_cast<int32_t*>(&generation_));
  bridge::enable(enable);
}

}  // namespace profiler
}  // namespace tsl

namespace xprof_roctx {

void ReplaceLastAnnotation(absl::string_view name) {
  annotation_stack::replace_last(
      reinterpret_cast<const uint8_t*>(name.data()), name.size());
}

}  // namespace xprof_roctx
