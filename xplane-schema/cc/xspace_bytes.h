// A serialized XSpace as tests see it: written field by field, and read without any library that the
// code under test uses. Field numbers are those of XProf's xplane.proto.
#ifndef XPLANE_SCHEMA_CC_XSPACE_BYTES_H_
#define XPLANE_SCHEMA_CC_XSPACE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xspace_bytes {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes.push_back(static_cast<char>(value | 0x80));
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

inline std::string Field(int number, uint64_t value) {
  return Varint(static_cast<uint64_t>(number) << 3) + Varint(value);
}

inline std::string Field(int number, std::string_view bytes) {
  return Varint(static_cast<uint64_t>(number) << 3 | 2) + Varint(bytes.size()) +
         std::string(bytes);
}

struct Event {
  std::string name;
  int64_t offset_ps = 0;
  int64_t duration_ps = 0;
  std::map<std::string, std::string> stats;
};

struct Line {
  int64_t id = 0;
  std::string name;
  int64_t timestamp_ns = 0;
  std::vector<Event> events;

  std::vector<std::string> EventNames() const {
    std::vector<std::string> names;
    for (const Event& event : events) names.push_back(event.name);
    return names;
  }
};

struct Plane {
  std::string name;
  std::vector<Line> lines;
};

struct Space {
  std::vector<Plane> planes;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;

  const Plane* Find(std::string_view name) const {
    for (const Plane& plane : planes) {
      if (plane.name == name) return &plane;
    }
    return nullptr;
  }
};

// One field after another. Throws where the bytes are no message.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool Next() {
    if (bytes_.empty()) return false;
    const uint64_t tag = TakeVarint();
    number = static_cast<int>(tag >> 3);
    switch (tag & 7) {
      case 0:
        value = TakeVarint();
        return true;
      case 1:
        bytes = Take(8);
        return true;
      case 2:
        bytes = Take(TakeVarint());
        return true;
      default:
        throw std::runtime_error("no XSpace");
    }
  }

  std::string Text() const { return std::string(bytes); }

  int number = 0;
  uint64_t value = 0;
  std::string_view bytes;

 private:
  std::string_view Take(uint64_t size) {
    if (size > bytes_.size()) throw std::runtime_error("cut off");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  uint64_t TakeVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(Take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("a number without an end");
  }

  std::string_view bytes_;
};

using Names = std::map<uint64_t, std::string>;

// An entry of a map from ids to metadata, of which the name counts.
inline std::pair<uint64_t, std::string> ReadMetadata(std::string_view entry) {
  std::pair<uint64_t, std::string> result;
  for (Reader field(entry); field.Next();) {
    if (field.number == 1) result.first = field.value;
    if (field.number != 2) continue;
    for (Reader metadata(field.bytes); metadata.Next();) {
      if (metadata.number == 2) result.second = metadata.Text();
    }
  }
  return result;
}

inline Event ReadEvent(std::string_view bytes, const Names& events,
                       const Names& stats) {
  Event event;
  for (Reader field(bytes); field.Next();) {
    if (field.number == 1) event.name = events.at(field.value);
    if (field.number == 2) event.offset_ps = static_cast<int64_t>(field.value);
    if (field.number == 3) event.duration_ps = static_cast<int64_t>(field.value);
    if (field.number != 4) continue;
    std::string name, value;
    for (Reader stat(field.bytes); stat.Next();) {
      if (stat.number == 1) name = stats.at(stat.value);
      if (stat.number == 3 || stat.number == 4) value = std::to_string(stat.value);
      if (stat.number == 5) value = stat.Text();
      if (stat.number == 7) value = stats.at(stat.value);
    }
    event.stats[name] = value;
  }
  return event;
}

inline Plane ReadPlane(std::string_view bytes) {
  Plane plane;
  Names events, stats;
  for (Reader field(bytes); field.Next();) {
    if (field.number == 2) plane.name = field.Text();
    if (field.number == 4) events.insert(ReadMetadata(field.bytes));
    if (field.number == 5) stats.insert(ReadMetadata(field.bytes));
  }
  for (Reader field(bytes); field.Next();) {
    if (field.number != 3) continue;
    Line line;
    for (Reader part(field.bytes); part.Next();) {
      if (part.number == 1) line.id = static_cast<int64_t>(part.value);
      if (part.number == 2) line.name = part.Text();
      if (part.number == 3) line.timestamp_ns = static_cast<int64_t>(part.value);
      if (part.number == 4) {
        line.events.push_back(ReadEvent(part.bytes, events, stats));
      }
    }
    plane.lines.push_back(std::move(line));
  }
  return plane;
}

inline Space Read(std::string_view bytes) {
  Space space;
  for (Reader field(bytes); field.Next();) {
    if (field.number == 1) space.planes.push_back(ReadPlane(field.bytes));
    if (field.number == 2) space.errors.push_back(field.Text());
    if (field.number == 3) space.warnings.push_back(field.Text());
  }
  return space;
}

// As much of protobuf's XSpace as the code under test uses. To merge a message into another is to
// append its bytes.
class FakeXSpace {
 public:
  FakeXSpace() = default;
  explicit FakeXSpace(std::string bytes) : bytes_(std::move(bytes)) {}

  bool SerializeToString(std::string* bytes) const {
    *bytes = bytes_;
    return true;
  }
  bool ParseFromString(const std::string& bytes) {
    bytes_ = bytes;
    return true;
  }
  bool ParseFromArray(const void* data, int size) {
    bytes_.assign(static_cast<const char*>(data), static_cast<size_t>(size));
    return true;
  }
  void MergeFrom(const FakeXSpace& other) { bytes_ += other.bytes_; }
  void Swap(FakeXSpace* other) { bytes_.swap(other->bytes_); }

  Space Read() const { return xspace_bytes::Read(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace xspace_bytes

#endif  // XPLANE_SCHEMA_CC_XSPACE_BYTES_H_
