#include "xprof_roctx/roctx_tracer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocm-tracer/rocm_tracer_cc/src/lib.rs.h"

namespace xprof_roctx {
namespace {

using Vector = rust::Vec<uint8_t>;

const uint8_t* Address(const void* function) {
  return static_cast<const uint8_t*>(function);
}

std::string_view View(bridge::Text text) {
  return {reinterpret_cast<const char*>(text.start), text.size};
}

rust::Slice<const uint8_t> Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

bridge::Session& SessionOf(void* state) {
  return *static_cast<bridge::Session*>(state);
}

const bridge::Annotations& AnnotationsOf(void* state) {
  return *static_cast<const bridge::Annotations*>(state);
}

}  // namespace

bool AskForTables(uint32_t sdk_version, const void* at_intercept_registration) {
  return at_intercept_registration != nullptr &&
         bridge::ask_for_tables(sdk_version,
                                Address(at_intercept_registration));
}

std::string ConfigureMarkerService(uint64_t context, uint32_t sdk_version,
                                   const void* configure_callback_tracing,
                                   const void* get_status_string) {
  return std::string(bridge::configure_marker_service(
      sdk_version, context, Address(configure_callback_tracing),
      Address(get_status_string)));
}

std::string_view CurrentRoctxLabel() { return View(bridge::current_label()); }

RoctxSession::RoctxSession() : state_(bridge::new_session().into_raw()) {}

RoctxSession::~RoctxSession() {
  if (state_ != nullptr) {
    rust::Box<bridge::Session>::from_raw(&SessionOf(state_));
  }
}

std::string RoctxSession::Start(const RoctxSessionOptions& options) {
  return std::string(SessionOf(state_).start(options.max_callback_api_events,
                                             options.max_label_bytes));
}

bool RoctxSession::IsRunning() const { return SessionOf(state_).is_running(); }

std::string RoctxSession::Stop() {
  return std::string(SessionOf(state_).stop());
}

size_t RoctxSession::MarkerCount() const {
  return SessionOf(state_).marker_count();
}

std::string RoctxSession::ExportSerialized() {
  std::string copy;
  ExportTo([&](std::string_view bytes) { copy = bytes; });
  return copy;
}

RoctxSession::Serialized RoctxSession::TakeSerialized() {
  return Serialized(new Vector(SessionOf(state_).take_xspace()));
}

RoctxSession::Serialized::~Serialized() {
  delete static_cast<Vector*>(vector_);
}

std::string_view RoctxSession::Serialized::bytes() const {
  const auto& vector = *static_cast<const Vector*>(vector_);
  return {reinterpret_cast<const char*>(vector.data()), vector.size()};
}

AnnotationMap::AnnotationMap(uint64_t max_size)
    : state_(bridge::new_annotations(max_size).into_raw()) {}

AnnotationMap::~AnnotationMap() {
  rust::Box<bridge::Annotations>::from_raw(
      static_cast<bridge::Annotations*>(state_));
}

void AnnotationMap::AddCurrent(uint64_t correlation_id) {
  AnnotationsOf(state_).add_current(correlation_id);
}

void AnnotationMap::Add(uint64_t correlation_id, std::string_view annotation,
                        std::string_view roctx_range,
                        const int64_t* scope_range_ids, size_t depth) {
  AnnotationsOf(state_).add(correlation_id, Bytes(annotation),
                            Bytes(roctx_range), scope_range_ids, depth);
}

std::string_view AnnotationMap::LookUp(uint64_t correlation_id) const {
  return View(AnnotationsOf(state_).look_up(correlation_id));
}

std::string_view AnnotationMap::LookUpRoctxRange(
    uint64_t correlation_id) const {
  return View(AnnotationsOf(state_).look_up_roctx_range(correlation_id));
}

int64_t AnnotationMap::LookUpScopeRangeId(uint64_t correlation_id) const {
  return AnnotationsOf(state_).look_up_scope_range_id(correlation_id);
}

std::vector<std::pair<int64_t, int64_t>> AnnotationMap::TakeScopeRangeIdTree() {
  const rust::Vec<int64_t> ids =
      AnnotationsOf(state_).take_scope_range_id_tree();
  std::vector<std::pair<int64_t, int64_t>> tree;
  tree.reserve(ids.size() / 2);
  for (size_t at = 0; at + 1 < ids.size(); at += 2) {
    tree.emplace_back(ids[at], ids[at + 1]);
  }
  return tree;
}

uint64_t AnnotationMap::Refused() const {
  return AnnotationsOf(state_).refused();
}

void AnnotationMap::Clear() { AnnotationsOf(state_).clear(); }

}  // namespace xprof_roctx
