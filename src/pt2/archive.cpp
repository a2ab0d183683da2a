#include "pt2/archive.h"

#include <algorithm>

#include "core/check.h"
#include "core/error.h"
#include "core/text.h"

namespace pipedream::pt2 {
namespace {

constexpr const char* kProgram = "models/model.json";
constexpr const char* kWeights = "data/weights/";
constexpr const char* kConstants = "data/constants/";
constexpr std::uint64_t kMostRepeated = std::uint64_t{1} << 30;  // bytes, of all tensors together

}  // namespace

Archive::Archive(const std::filesystem::path& path) : path_(path), file_(path) {
  for (ZipEntry& entry : parse_zip(file_.content(), path.string()))
    entries_.emplace(entry.name, std::move(entry));
  find_root();
  if (const auto order = entries_.find(root_ + "byteorder");
      order != entries_.end() && order->second.content != "little")
    throw CannotMeet(path.string() + ": the file was written by a machine with another byte order");
  program_ = parse_program(text(kProgram), name_in_message(kProgram));
  weights_ = read_stored(kWeights, "model_weights_config.json");
  constants_ = read_stored(kConstants, "model_constants_config.json");
  check_tensors();
}

std::string Archive::name_in_message(const std::string& entry) const {
  return path_.string() + " (" + entry + ")";
}

void Archive::find_root() {
  for (const auto& [name, entry] : entries_) {
    if (!name.ends_with(std::string("/") + kProgram)) continue;
    if (!root_.empty())
      throw CannotMeet(path_.string() + ": the file has several models, and one is wanted");
    root_ = name.substr(0, name.size() - std::string(kProgram).size());
  }
  if (root_.empty())
    throw BadFile(path_.string() + ": there is no entry " + kProgram +
                  " in it; wanted is a file that torch.export.save has written");
}

const ZipEntry& Archive::entry(const std::string& name) const {
  const auto found = entries_.find(root_ + name);
  if (found == entries_.end())
    throw BadFile(path_.string() + ": there is no entry " + printable(name, 200) + " in it");
  if (!is_sound(found->second))
    throw BadFile(path_.string() + ": the entry " + printable(name, 200) +
                  " is damaged: its checksum is wrong");
  return found->second;
}

std::string_view Archive::text(const std::string& name) const { return entry(name).content; }

Archive::Stored Archive::read_stored(const std::string& folder, const std::string& list) const {
  Stored stored = parse_stored_tensors(text(folder + list), name_in_message(folder + list));
  for (auto& [name, tensor] : stored) tensor.entry = folder + tensor.entry;
  return stored;
}

const StoredTensor& Archive::stored(const Input& input) const {
  PD_CHECK(input.kind != Input::Kind::kUser);
  for (const Stored* list : {&weights_, &constants_})
    if (const auto found = list->find(input.name); found != list->end()) return found->second;
  throw BadFile(path_.string() + ": the tensor '" + printable(input.name, 200) + "' is missing");
}

// Before anything is allocated, every tensor is compared with the program and with its entry. A
// tensor that repeats elements (a stride of 0) takes more memory than the file has bytes.
void Archive::check_tensors() const {
  std::uint64_t repeated = 0;
  for (const Input& input : program_.inputs) {
    if (input.kind == Input::Kind::kUser) continue;
    const StoredTensor& tensor = stored(input);
    const Tensor& used = program_.tensors[input.tensor.index()];
    const std::vector<Size> sizes(tensor.sizes.begin(), tensor.sizes.end());
    const std::string who = path_.string() + ": the tensor '" + printable(input.name, 200) + "' ";
    if (used.type != tensor.type || used.sizes != sizes)
      throw BadFile(who + "has another type or shape than the program uses");
    const auto found = entries_.find(root_ + tensor.entry);
    if (found == entries_.end()) throw BadFile(who + "has no content");
    try {
      if (bytes_needed(tensor) > found->second.content.size())
        throw BadFile(who + "is larger than its content");
      const std::uint64_t bytes = bytes_when_dense(tensor);
      repeated += bytes - std::min<std::uint64_t>(bytes, found->second.content.size());
      if (repeated > kMostRepeated) throw BadValue("its elements are repeated too often");
    } catch (const BadValue& error) {
      throw BadFile(who + "cannot be: " + error.what());
    }
  }
}

std::string_view Archive::bytes_of(const Input& input) const {
  return entry(stored(input).entry).content;
}

}  // namespace pipedream::pt2
