// The C++ face of nvtx_utils, the same over each implementation: the Rust library that is linked with
// it decides which.
#include "tsl/profiler/lib/nvtx_utils.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "tsl-profiler-lib/nvtx_utils_cc/src/lib.rs.h"

namespace tsl::profiler {
namespace {

namespace bridge = ::xprof_roctx::nvtx_utils;

// Handles too are addresses, at which only the Rust side looks.
const uint8_t* Address(const void* pointer) {
  return static_cast<const uint8_t*>(pointer);
}

template <typename Handle>
Handle ToHandle(const uint8_t* address) {
  return reinterpret_cast<Handle>(const_cast<uint8_t*>(address));
}

rust::Slice<const uint8_t> Bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

ProfilerDomainHandle DefaultProfilerDomain() {
  // It never changes, so Rust is asked once.
  static const auto domain =
      ToHandle<ProfilerDomainHandle>(bridge::default_profiler_domain());
  return domain;
}

void RangePush(ProfilerDomainHandle, const char* title) {
  bridge::range_push(title);
}

namespace detail {
void RangePush(ProfilerDomainHandle, StringHandle title, uint64_t schema_id,
               const void* payload, size_t payload_size) {
  bridge::range_push_registered(Address(title), schema_id, Address(payload),
                                payload_size);
}
}  // namespace detail

void RangePop(ProfilerDomainHandle) { bridge::range_pop(); }

StringHandle RegisterString(ProfilerDomainHandle, const std::string& text) {
  return ToHandle<StringHandle>(bridge::register_string(Bytes(text)));
}

uint64_t RegisterSchema(ProfilerDomainHandle, const void* schema) {
  return bridge::register_schema(Address(schema));
}

void NameCurrentThread(const std::string& name) {
  bridge::name_current_thread(Bytes(name));
}

void NameDevice(int device_id, const std::string& name) {
  bridge::name_device(device_id, Bytes(name));
}

void NameStream(StreamHandle stream, const std::string& name) {
  bridge::name_stream(Address(stream), Bytes(name));
}

void MarkMemoryInitialized(const void* address, size_t size,
                           StreamHandle stream) {
  bridge::mark_memory_initialized(Address(address), size, Address(stream));
}

}  // namespace tsl::profiler
