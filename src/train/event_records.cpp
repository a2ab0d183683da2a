#include "train/event_records.h"

#include <array>
#include <bit>

namespace pipedream::train {
namespace {

// The kinds of a field in a protocol buffer.
constexpr unsigned kVarint = 0;
constexpr unsigned kEightBytes = 1;
constexpr unsigned kBytes = 2;
constexpr unsigned kFourBytes = 5;

void add_varint(std::uint64_t value, std::string& out) {
  for (; value >= 128; value >>= 7) out += static_cast<char>((value & 127) | 128);
  out += static_cast<char>(value);
}

// The lowest byte first.
template <class Number>
void add_bytes(Number value, std::string& out) {
  for (std::size_t i = 0; i < sizeof(value); ++i)
    out += static_cast<char>((value >> (8 * i)) & 255);
}

void add_key(unsigned field, unsigned kind, std::string& out) {
  add_varint(field << 3 | kind, out);
}

void add_text(unsigned field, const std::string& text, std::string& out) {
  add_key(field, kBytes, out);
  add_varint(text.size(), out);
  out += text;
}

// Event.wall_time.
std::string event_at(double wall_time) {
  std::string event;
  add_key(1, kEightBytes, event);
  add_bytes(std::bit_cast<std::uint64_t>(wall_time), event);
  return event;
}

constexpr std::array<std::uint32_t, 256> table_of_crc() {
  constexpr std::uint32_t kReversed = 0x82f63b78;  // Castagnoli's polynomial
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = rest & 1 ? rest >> 1 ^ kReversed : rest >> 1;
    table[i] = rest;
  }
  return table;
}

// The masked CRC of the TFRecord format, for checksums that are stored beside their data.
std::uint32_t masked(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8; }

}  // namespace

std::uint32_t crc32c(const std::string& bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = table_of_crc();
  std::uint32_t crc = ~0u;
  for (const char byte : bytes)
    crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 255] ^ crc >> 8;
  return ~crc;
}

std::string framed(const std::string& bytes) {
  std::string length;
  add_bytes(static_cast<std::uint64_t>(bytes.size()), length);
  std::string record = length;
  add_bytes(masked(crc32c(length)), record);
  record += bytes;
  add_bytes(masked(crc32c(bytes)), record);
  return record;
}

std::string version_event(double wall_time) {
  std::string event = event_at(wall_time);
  add_text(3, "brain.Event:2", event);  // Event.file_version
  return event;
}

std::string scalars_event(double wall_time, std::int64_t step,
                          const std::vector<std::pair<std::string, double>>& values) {
  std::string summary;
  for (const auto& [tag, value] : values) {
    std::string each;
    add_text(1, tag, each);  // Summary.Value.tag
    add_key(2, kFourBytes, each);
    add_bytes(std::bit_cast<std::uint32_t>(static_cast<float>(value)), each);
    add_text(1, each, summary);  // Summary.value
  }
  std::string event = event_at(wall_time);
  add_key(2, kVarint, event);  // Event.step
  add_varint(static_cast<std::uint64_t>(step), event);
  add_text(5, summary, event);  // Event.summary
  return event;
}

}  // namespace pipedream::train
