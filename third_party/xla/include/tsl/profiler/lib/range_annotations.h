// The name that nvtx_utils.h has in newer checkouts of XLA.
#ifndef XPROF_ROCTX_RANGE_ANNOTATIONS_H_
#define XPROF_ROCTX_RANGE_ANNOTATIONS_H_

#include "tsl/profiler/lib/nvtx_utils.h"

#endif  // XPROF_ROCTX_RANGE_ANNOTATIONS_H_
