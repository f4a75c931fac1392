#include "tsl-profiler-lib/cc/recording_roctx.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace recording_roctx {
namespace {

thread_local std::vector<std::string> calls;
thread_local std::vector<std::string> ranges;

void Record(const std::string& what, const char* text) {
  calls.push_back(what + " " + text);
}

}  // namespace

void Use() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&Use), &info) == 0) abort();
  setenv("XPROF_ROCTX_LIBRARY", info.dli_fname, /*overwrite=*/1);
}

// Returns the level before the push.
int Push(const char* message) {
  Record("push", message);
  ranges.emplace_back(message);
  return static_cast<int>(ranges.size()) - 1;
}

// Returns the level after the pop; negative if there was nothing to pop.
int Pop() {
  calls.emplace_back("pop");
  if (ranges.empty()) return -1;
  ranges.pop_back();
  return static_cast<int>(ranges.size());
}

std::vector<std::string> TakeCalls() { return std::exchange(calls, {}); }

std::vector<std::string> OpenRanges() { return ranges; }

}  // namespace recording_roctx

using recording_roctx::Record;

// As roctx.h declares them.
extern "C" {
int roctxRangePushA(const char* message) {
  return recording_roctx::Push(message);
}

int roctxRangePop() { return recording_roctx::Pop(); }

void roctxMarkA(const char* message) { Record("mark", message); }

uint64_t roctxRangeStartA(const char* message) {
  static std::atomic<uint64_t> last{0};
  Record("start", message);
  return ++last;
}

void roctxRangeStop(uint64_t id) { Record("stop", std::to_string(id).c_str()); }

int roctxNameOsThread(const char* name) {
  Record("name thread", name);
  return 0;
}

int roctxNameHipDevice(const char* name, int device) {
  Record("name device " + std::to_string(device), name);
  return 0;
}

int roctxNameHipStream(const char* name, const void* stream) {
  const auto address = reinterpret_cast<uintptr_t>(stream);
  Record("name stream " + std::to_string(address), name);
  return 0;
}
}
