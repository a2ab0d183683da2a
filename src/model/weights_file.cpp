#include "model/weights_file.h"

#include <cstring>
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

at::ScalarType type_named(const std::string& name) {
  for (const auto& [text, type] : kTypes)
    if (name == text) return type;
  PD_CHECK(false && "parse_safetensors_head lets only known types pass");
  return at::kFloat;
}

// Throws BadUsage if safetensors files have no such type.
std::string name_of(at::ScalarType type, const std::string& tensor) {
  for (const auto& [text, known] : kTypes)
    if (type == known) return text;
  throw BadUsage("the tensor '" + printable(tensor) + "' has the type " + c10::toString(type) +
                 ", which safetensors files do not have here: convert it to a real or whole type");
}

}  // namespace

NamedTensors read_weights(const std::filesystem::path& path) {
  const std::string content = read_file(path);
  const SafetensorsHead head = parse_safetensors_head(content, content.size(), path.string());
  NamedTensors tensors;
  for (const SafetensorsEntry& entry : head.entries) {
    at::Tensor tensor = at::empty(entry.shape, at::TensorOptions().dtype(type_named(entry.type)));
    std::memcpy(tensor.data_ptr(), content.data() + head.size + entry.begin,
                entry.end - entry.begin);
    tensors.emplace(entry.name, std::move(tensor));
  }
  return tensors;
}

void write_weights(const std::filesystem::path& path, const NamedTensors& tensors,
                   const WeightsMetadata& metadata) {
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, tensor] : tensors)
    entries.push_back({name, name_of(tensor.scalar_type(), name), tensor.sizes().vec(), 0, 0});
  std::string content = make_safetensors_head(std::move(entries), metadata);
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor flat = tensor.detach().contiguous();
    content.append(static_cast<const char*>(flat.const_data_ptr()), flat.nbytes());
  }
  write_file_atomically(path, content);
}

WeightsMetadata metadata_of(const Network& network, const WeightsMetadata& data) {
  // "pt" tells loaders of other projects that tensors are laid out as PyTorch's are.
  WeightsMetadata metadata{{"format", "pt"}, {"writer", "pipedream"}, {"model", network.name}};
  for (const auto& [name, value] : network.options) metadata["option." + name] = value;
  for (const auto& [name, value] : network.facts) metadata["model." + name] = value;
  for (const auto& [name, value] : data) metadata["data." + name] = value;
  return metadata;
}

}  // namespace pipedream::model
