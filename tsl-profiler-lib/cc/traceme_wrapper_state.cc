#include "xprof_roctx/traceme_wrapper_state.h"

#include <cstdint>
#include <string_view>

#include "tsl-profiler-lib/nvtx_utils_cc/src/lib.rs.h"

namespace xprof_roctx {
namespace {

namespace bridge = ::xprof_roctx::nvtx_utils;

bridge::TraceMeWrapperState* FromRust(void* state) {
  return static_cast<bridge::TraceMeWrapperState*>(state);
}

}  // namespace

TraceMeWrapperState::TraceMeWrapperState(std::string_view label)
    : state_(bridge::new_traceme_wrapper_state(
                 {reinterpret_cast<const uint8_t*>(label.data()), label.size()})
                 .into_raw()) {}

TraceMeWrapperState::~TraceMeWrapperState() {
  if (state_ != nullptr) {
    // Dropping it stops it.
    rust::Box<bridge::TraceMeWrapperState>::from_raw(FromRust(state_));
  }
}

void TraceMeWrapperState::Stop() {
  if (state_ != nullptr) FromRust(state_)->stop();
}

}  // namespace xprof_roctx
