#include "xprof_roctx/post_process.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "host-postprocess/host_postprocess_cc/src/lib.rs.h"

namespace xprof_roctx {

std::string PostProcessSerializedXSpace(std::string_view serialized,
                                        uint64_t start_time_ns,
                                        uint64_t stop_time_ns,
                                        std::string* processed) {
  const post_process_bridge::Outcome outcome =
      post_process_bridge::post_process(
          {reinterpret_cast<const uint8_t*>(serialized.data()),
           serialized.size()},
          start_time_ns, stop_time_ns);
  if (outcome.problem.empty()) {
    processed->assign(reinterpret_cast<const char*>(outcome.xspace.data()),
                      outcome.xspace.size());
  }
  return std::string(outcome.problem);
}

}  // namespace xprof_roctx
