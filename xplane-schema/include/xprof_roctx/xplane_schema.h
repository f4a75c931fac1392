// What ROCTX adds to TSL's xplane_schema.h.
#ifndef XPROF_ROCTX_XPLANE_SCHEMA_H_
#define XPROF_ROCTX_XPLANE_SCHEMA_H_

#include <cstdint>
#include <string_view>

namespace xprof_roctx {

// The plane of ROCTX markers, before post-processing merges it into kHostThreadsPlaneName.
inline constexpr std::string_view kRoctxPlaneName = "/host:ROCTX";

// Ids of merged lines whose own ids were taken: NVTX's from the first of these, ROCTX's from the
// second to before the third.
inline constexpr int64_t kNvtxLineIdBase = int64_t{1} << 32;
inline constexpr int64_t kRoctxLineIdBase = int64_t{2} << 32;
inline constexpr int64_t kRoctxLineIdEnd = int64_t{3} << 32;

}  // namespace xprof_roctx

// Where TSL's other plane names are.
namespace tsl::profiler {
using ::xprof_roctx::kRoctxPlaneName;
}  // namespace tsl::profiler

#endif  // XPROF_ROCTX_XPLANE_SCHEMA_H_
