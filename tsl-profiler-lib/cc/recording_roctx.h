// A ROCTX library that writes down what it is called with, for tests: a shared library of its own, to
// be found by nvtx_utils as AMD's is.
#ifndef TSL_PROFILER_LIB_CC_RECORDING_ROCTX_H_
#define TSL_PROFILER_LIB_CC_RECORDING_ROCTX_H_

#include <string>
#include <vector>

namespace recording_roctx {

// Has this process's nvtx_utils use this library. To be called before any of its functions.
void Use();

// What a program does that calls ROCTX itself.
int Push(const char* message);
int Pop();

// What the calling thread has called since it last asked, as "push a", "pop", "mark b", …
std::vector<std::string> TakeCalls();

// The calling thread's open ranges, outermost first.
std::vector<std::string> OpenRanges();

}  // namespace recording_roctx

#endif  // TSL_PROFILER_LIB_CC_RECORDING_ROCTX_H_
