// Ranges, marks of memory and names, for whichever profiler this build is for.
//
// The interface is TSL's, name for name, so that its call sites compile unchanged. A build links one
// implementation of it, as a whole target: on ROCTX, on NVTX, or one that does nothing
// (//tsl-profiler-lib:nvtx_utils).
//
// Any thread may call any of these at any time. RangePush and RangePop neither lock nor allocate,
// but to grow a thread's own buffers. Texts are bytes of any kind; nothing here throws.
//
// The guard is TSL's too: where both headers can be found, the first one serves.
#ifndef TENSORFLOW_TSL_PROFILER_LIB_NVTX_UTILS_H_
#define TENSORFLOW_TSL_PROFILER_LIB_NVTX_UTILS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace tsl::profiler {

struct ProfilerDomain;
struct Stream;
struct String;

// Where ranges are opened. Opaque: never dereferenced by callers.
using ProfilerDomainHandle = ProfilerDomain*;
// A stream of the GPU runtime: a hipStream_t, a CUstream.
using StreamHandle = Stream*;
// A string that RegisterString has registered, valid for the life of the process.
using StringHandle = String*;

// The domain of TSL's ranges; null if ranges are off. Decided at the first call and the same for the
// life of the process.
//
// On ROCTX, the environment variable XLA_ROCM_ENABLE_ROCTX decides: 0 or false switches ranges off;
// otherwise they are on.
ProfilerDomainHandle DefaultProfilerDomain();

// Opens a range on this thread, and where annotations are enabled pushes the same text on the
// AnnotationStack. The text is read during the call only; null counts as empty. Does nothing if
// ranges are off.
void RangePush(ProfilerDomainHandle domain, const char* title);
inline void RangePush(ProfilerDomainHandle domain, const std::string& title) {
  RangePush(domain, title.c_str());
}

namespace detail {
void RangePush(ProfilerDomainHandle domain, StringHandle title,
               uint64_t schema_id, const void* payload, size_t payload_size);
}  // namespace detail

// The same with a registered title and the annotation's fields as they lie in memory. A null title
// opens a range without a name. `Annotation` has a function NvtxSchemaId(): what RegisterSchema
// returned for it.
template <typename Annotation>
void RangePush(ProfilerDomainHandle domain, StringHandle title,
               const Annotation& annotation) {
  detail::RangePush(domain, title, annotation.NvtxSchemaId(), &annotation,
                    sizeof(Annotation));
}

// Closes the innermost range that this thread has opened with RangePush, and takes its text off the
// AnnotationStack.
void RangePop(ProfilerDomainHandle domain);

// Registers a string: equal strings get equal handles. On ROCTX a string of more than 4 KiB is cut,
// visibly, and once all of them take 64 MiB new ones share a placeholder.
StringHandle RegisterString(ProfilerDomainHandle domain,
                            const std::string& text);

// Registers how the fields of a payload are laid out; 0 where payloads are not described.
uint64_t RegisterSchema(ProfilerDomainHandle domain, const void* schema);

// Names for a viewer to show: of the calling thread, of a device by its ordinal, of a stream. They
// work whether or not ranges are on.
void NameCurrentThread(const std::string& name);
void NameDevice(int device_id, const std::string& name);
void NameStream(StreamHandle stream, const std::string& name);

// Tells a memory checker that this memory is initialized.
void MarkMemoryInitialized(const void* address, size_t size,
                           StreamHandle stream);

}  // namespace tsl::profiler

#endif  // TENSORFLOW_TSL_PROFILER_LIB_NVTX_UTILS_H_
