#include "core/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/document.h"
#include "core/error.h"
#include "core/text.h"

namespace pipedream {
namespace {

constexpr char kMetadata[] = "__metadata__";
constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLargestHead = 100'000'000;  // the limit of the reference implementation
constexpr std::int64_t kLargestSide = std::int64_t{1} << 53;
constexpr std::size_t kAlignment = 8;

static_assert(std::endian::native == std::endian::little, "the file's numbers are little-endian");

// Returns the bytes of the tensor: its elements × the size of one. Fails if they exceed `limit`,
// before the product can overflow.
std::uint64_t byte_count(const Node& node, const SafetensorsEntry& entry, std::uint64_t limit) {
  std::uint64_t bytes = safetensors_element_size(entry.type);
  for (const std::int64_t side : entry.shape) {
    const auto factor = static_cast<std::uint64_t>(side);
    if (factor != 0 && bytes > limit / factor)
      node.at("shape").fail("the tensor is larger than any file");
    bytes *= factor;
  }
  return bytes;
}

SafetensorsEntry read_entry(const std::string& name, const Node& node) {
  node.expect_keys({"dtype", "shape", "data_offsets"});
  SafetensorsEntry entry;
  entry.name = name;
  entry.type = node.at("dtype").text();
  if (safetensors_element_size(entry.type) == 0)
    node.at("dtype").fail("wanted a type such as \"F32\", found \"" + printable(entry.type) + "\"");
  for (const Node& side : node.at("shape").elements())
    entry.shape.push_back(side.integer(0, kLargestSide));
  const auto offsets = node.at("data_offsets").elements();
  if (offsets.size() != 2) node.at("data_offsets").fail("wanted two numbers, begin and end");
  // A file that ends early is refused as a whole, by parse_safetensors_head().
  constexpr std::int64_t most = std::int64_t{1} << 53;
  entry.begin = static_cast<std::uint64_t>(offsets[0].integer(0, most));
  entry.end =
      static_cast<std::uint64_t>(offsets[1].integer(static_cast<std::int64_t>(entry.begin), most));
  const std::uint64_t bytes = byte_count(node, entry, most);
  if (entry.end - entry.begin != bytes)
    node.at("data_offsets")
        .fail(fmt::format("wanted {} bytes for this shape, found {}", bytes,
                          entry.end - entry.begin));
  return entry;
}

}  // namespace

std::uint64_t safetensors_element_size(std::string_view type) {
  if (type == "F64" || type == "I64" || type == "U64") return 8;
  if (type == "F32" || type == "I32" || type == "U32") return 4;
  if (type == "F16" || type == "BF16" || type == "I16" || type == "U16") return 2;
  if (type == "I8" || type == "U8" || type == "BOOL") return 1;
  return 0;
}

SafetensorsHead parse_safetensors_head(std::string_view content, std::uint64_t file_size,
                                       const std::string& file) {
  if (content.size() < kLengthBytes)
    throw BadFile(
        fmt::format("{}: wanted a safetensors file, found {} bytes", file, content.size()));
  std::uint64_t length = 0;
  std::memcpy(&length, content.data(), kLengthBytes);
  if (length > kLargestHead || length > content.size() - kLengthBytes ||
      length > file_size - kLengthBytes)
    throw BadFile(
        content.starts_with("PK")
            ? fmt::format("{}: wanted a safetensors file, found a zip file, which torch.save() "
                          "writes: safetensors.torch.save_file() writes the right kind",
                          file)
            : fmt::format("{}: wanted a safetensors file, found something else: its head would "
                          "have {} bytes, more than {}",
                          file, length, length > kLargestHead ? "any may have" : "the file holds"));
  SafetensorsHead head;
  head.size = kLengthBytes + length;
  const std::uint64_t data_size = file_size - head.size;
  const Node root = parse_json(content.substr(kLengthBytes, length), file);
  for (const auto& [name, node] : root.members()) {
    if (name != kMetadata) {
      head.entries.push_back(read_entry(name, node));
      continue;
    }
    for (const auto& [key, value] : node.members()) head.metadata[key] = value.any_text();
  }
  std::stable_sort(head.entries.begin(), head.entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t next = 0;
  for (const SafetensorsEntry& entry : head.entries) {
    if (entry.begin != next)
      throw BadFile(fmt::format("{}: the data of {} begin at {}, not at {} where the last ended",
                                file, printable(entry.name), entry.begin, next));
    next = entry.end;
  }
  if (next > data_size)
    throw BadFile(fmt::format("{}: is cut off: its tensors take {} bytes, and {} of them are there",
                              file, next, data_size));
  if (next != data_size)
    throw BadFile(fmt::format("{}: wanted {} bytes of data, found {}", file, next, data_size));
  return head;
}

std::string make_safetensors_head(std::vector<SafetensorsEntry> entries,
                                  const SafetensorsMetadata& metadata) {
  auto json = nlohmann::ordered_json::object();
  if (!metadata.empty()) json[kMetadata] = metadata;
  std::uint64_t next = 0;
  for (SafetensorsEntry& entry : entries) {
    std::uint64_t bytes = safetensors_element_size(entry.type);
    for (const std::int64_t side : entry.shape) bytes *= static_cast<std::uint64_t>(side);
    json[entry.name] = {
        {"dtype", entry.type}, {"shape", entry.shape}, {"data_offsets", {next, next + bytes}}};
    next += bytes;
  }
  std::string text = json.dump();
  // Pads the head with spaces, which the format allows, so that the data are aligned.
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const std::uint64_t length = text.size();
  std::string head(kLengthBytes, '\0');
  std::memcpy(head.data(), &length, kLengthBytes);
  return head + text;
}

}  // namespace pipedream
