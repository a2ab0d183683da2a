#include "model/weights_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <utility>

#include <ATen/ops/empty.h>

#include "core/check.h"
#include "core/error.h"
#include "core/file.h"
#include "core/safetensors.h"
#include "core/text.h"

namespace pipedream::model {
namespace {

constexpr std::pair<const char*, at::ScalarType> kTypes[] = {
    {"F64", at::kDouble}, {"F32", at::kFloat}, {"F16", at::kHalf},   {"BF16", at::kBFloat16},
    {"I64", at::kLong},   {"I32", at::kInt},   {"I16", at::kShort},  {"I8", at::kChar},
    {"U8", at::kByte},    {"BOOL", at::kBool}, {"U16", at::kUInt16}, {"U32", at::kUInt32},
    {"U64", at::kUInt64}};

// Throws BadUsage if safetensors files have no such type.
std::string name_of(at::ScalarType type, const std::string& tensor) {
  for (const auto& [text, known] : kTypes)
    if (type == known) return text;
  throw BadUsage("the tensor '" + printable(tensor) + "' has the type " + c10::toString(type) +
                 ", which safetensors files do not have here: convert it to a real or whole type");
}

constexpr const char* kSecondName = "second_name.";
constexpr const char* kNotInStateDict = "not_in_state_dict.";
constexpr const char* kOfData = "data.";

}  // namespace

at::ScalarType safetensors_type(const std::string& name) {
  for (const auto& [text, type] : kTypes)
    if (name == text) return type;
  PD_CHECK(false && "parse_safetensors_head lets only known types pass");
  return at::kFloat;
}

void make_state_dict(NamedTensors& tensors, WeightsMetadata& metadata) {
  for (const auto& [key, name] : metadata) {
    if (!key.starts_with(kSecondName)) continue;
    if (const auto found = tensors.find(name); found != tensors.end())
      tensors.emplace(key.substr(std::string(kSecondName).size()), found->second);
  }
  for (auto each = metadata.begin(); each != metadata.end();) {
    const bool is_left_out = each->first.starts_with(kNotInStateDict);
    if (is_left_out) tensors.erase(each->first.substr(std::string(kNotInStateDict).size()));
    each = is_left_out ? metadata.erase(each) : std::next(each);
  }
}

struct WeightsReader::Impl {
  explicit Impl(const std::filesystem::path& of) : path(of), file(of, std::ios::binary) {}

  std::filesystem::path path;
  mutable std::mutex mutex;  // guards `file`
  mutable std::ifstream file;
  std::uint64_t head_size = 0;
  std::map<std::string, SafetensorsEntry> entries;
  WeightsMetadata metadata;
};

WeightsReader::WeightsReader(const std::filesystem::path& path) {
  auto made = std::make_unique<Impl>(path);
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error || !made->file)
    throw IoError("cannot read " + path.string() + ": " +
                  (error ? error.message() : std::string(std::strerror(errno))));
  // The head's length comes first. A wrong one is found by parse_safetensors_head().
  std::uint64_t length = 0;
  made->file.read(reinterpret_cast<char*>(&length), sizeof(length));
  std::string content(std::min<std::uint64_t>(size, sizeof(length) + std::min(length, size)), '\0');
  made->file.clear();
  made->file.seekg(0);
  made->file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (!made->file) throw IoError("cannot read " + path.string());
  SafetensorsHead head = parse_safetensors_head(content, size, path.string());
  made->head_size = head.size;
  made->metadata = std::move(head.metadata);
  for (SafetensorsEntry& entry : head.entries) made->entries.emplace(entry.name, std::move(entry));
  impl_ = std::move(made);
}

WeightsReader::~WeightsReader() = default;

std::vector<std::string> WeightsReader::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : impl_->entries) names.push_back(name);
  return names;
}

const WeightsMetadata& WeightsReader::metadata() const { return impl_->metadata; }

std::optional<WeightsReader::Entry> WeightsReader::entry(const std::string& name) const {
  const auto found = impl_->entries.find(name);
  if (found == impl_->entries.end()) return std::nullopt;
  return Entry{found->second.shape, safetensors_type(found->second.type)};
}

std::optional<at::Tensor> WeightsReader::find(const std::string& name) const {
  const auto found = impl_->entries.find(name);
  if (found == impl_->entries.end()) return std::nullopt;
  const SafetensorsEntry& entry = found->second;
  at::Tensor tensor =
      at::empty(entry.shape, at::TensorOptions().dtype(safetensors_type(entry.type)));
  const std::lock_guard lock(impl_->mutex);
  impl_->file.seekg(static_cast<std::streamoff>(impl_->head_size + entry.begin));
  impl_->file.read(static_cast<char*>(tensor.mutable_data_ptr()),
                   static_cast<std::streamsize>(entry.end - entry.begin));
  if (!impl_->file) {
    impl_->file.clear();
    throw IoError("cannot read the tensor '" + printable(name) + "' of " + impl_->path.string());
  }
  return tensor;
}

NamedTensors read_weights(const std::filesystem::path& path) {
  const WeightsReader reader(path);
  NamedTensors tensors;
  for (const std::string& name : reader.names()) tensors.emplace(name, *reader.find(name));
  return tensors;
}

std::vector<std::string_view> WeightsImage::pieces() const {
  std::vector<std::string_view> pieces{head};
  for (const at::Tensor& tensor : tensors)
    pieces.emplace_back(static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes());
  return pieces;
}

WeightsImage image_of(const NamedTensors& tensors, const WeightsMetadata& metadata) {
  WeightsImage image;
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, tensor] : tensors) {
    entries.push_back({name, name_of(tensor.scalar_type(), name), tensor.sizes().vec(), 0, 0});
    image.tensors.push_back(tensor.detach().contiguous());
  }
  image.head = make_safetensors_head(std::move(entries), metadata);
  return image;
}

void write_weights(const std::filesystem::path& path, const NamedTensors& tensors,
                   const WeightsMetadata& metadata) {
  const WeightsImage image = image_of(tensors, metadata);
  std::string content;
  for (const std::string_view piece : image.pieces()) content += piece;
  write_file_atomically(path, content);
}

WeightsMetadata facts_of_data(const WeightsMetadata& metadata) {
  WeightsMetadata facts;
  for (const auto& [name, value] : metadata)
    if (name.starts_with(kOfData)) facts[name.substr(std::strlen(kOfData))] = value;
  return facts;
}

WeightsMetadata metadata_of(const Network& network, const WeightsMetadata& data) {
  // "pt" tells loaders of other projects that tensors are laid out as PyTorch's are.
  WeightsMetadata metadata{{"format", "pt"}, {"writer", "pipedream"}, {"model", network.name}};
  for (const auto& [name, value] : network.options) metadata["option." + name] = value;
  for (const auto& [second, name] : network.second_names) metadata[kSecondName + second] = name;
  for (const std::string& name : network.not_in_state_dict) metadata[kNotInStateDict + name] = "";
  for (const auto& [name, value] : network.facts) metadata["model." + name] = value;
  for (const auto& [name, value] : data) metadata[kOfData + name] = value;
  return metadata;
}

}  // namespace pipedream::model
