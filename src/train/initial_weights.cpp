#include "train/initial_weights.h"

#include <algorithm>
#include <map>
#include <memory>

#include "core/error.h"
#include "core/text.h"
#include "model/weights_file.h"

namespace pipedream::train {
namespace {

using Specs = std::map<std::string, model::TensorSpec>;

Specs tensors_of(const model::Network& network) {
  Specs specs;
  for (const model::LayerSpec& layer : network.specs)
    for (const auto* list : {&layer.parameters, &layer.buffers})
      for (const model::TensorSpec& spec : *list) specs.emplace(spec.name, spec);
  return specs;
}

bool is_fresh(const std::string& name, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& beginning) { return name.starts_with(beginning); });
}

// What is wrong with the file, by kind. Each kind becomes one line of the message.
class Faults {
 public:
  void add(const std::string& kind, const std::string& tensor) { faults_[kind].push_back(tensor); }
  [[nodiscard]] bool empty() const { return faults_.empty(); }
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& [kind, tensors] : faults_) {
      text += "\n  " + kind + ":";
      for (const std::string& tensor : tensors) text += " " + tensor + ";";
      text.back() = '.';
    }
    return text;
  }

 private:
  std::map<std::string, std::vector<std::string>> faults_;
};

// Compares the tensor of the file with that of the network.
void check_tensor(const model::TensorSpec& wanted, const model::WeightsReader::Entry& found,
                  Faults& faults) {
  if (found.shape != wanted.shape)
    faults.add("of another shape", wanted.name + " is " + shape_text(found.shape) + ", wanted " +
                                       shape_text(wanted.shape));
  else if (found.type != wanted.type &&
           !(at::isFloatingType(found.type) && at::isFloatingType(wanted.type)))
    faults.add("of another type", wanted.name + " is " + c10::toString(found.type) + ", wanted " +
                                      c10::toString(wanted.type));
}

void check_file(const model::Network& network, const Specs& specs,
                const model::WeightsReader& reader, const std::vector<std::string>& fresh,
                Faults& faults) {
  for (const auto& [name, spec] : specs) {
    if (is_fresh(name, fresh) || network.not_in_state_dict.contains(name)) continue;
    if (const auto found = reader.entry(name))
      check_tensor(spec, *found, faults);
    else
      faults.add("missing", name);
  }
  for (const std::string& name : reader.names())
    if (!specs.contains(name) && !network.second_names.contains(name) && !is_fresh(name, fresh) &&
        !name.ends_with("num_batches_tracked"))
      faults.add("not in the network", printable(name));
  for (const std::string& beginning : fresh)
    if (std::none_of(specs.begin(), specs.end(),
                     [&](const auto& each) { return each.first.starts_with(beginning); }))
      faults.add("`fresh` fits no tensor of the network", printable(beginning));
}

}  // namespace

runtime::FindTensor find_weights(const model::Network& network, const InitialWeights& wanted) {
  const auto reader = std::make_shared<const model::WeightsReader>(wanted.file);
  const auto specs = std::make_shared<const Specs>(tensors_of(network));
  Faults faults;
  check_file(network, *specs, *reader, wanted.fresh, faults);
  if (!faults.empty())
    throw CannotMeet(
        "`weights` " + wanted.file.string() + " does not fit " + network.name + ":" +
        faults.text() +
        (wanted.may_be_fresh
             ? "\n`fresh` BEGINNING leaves tensors whose names begin so at random values"
             : ""));
  return
      [reader, specs, fresh = wanted.fresh](const std::string& name) -> std::optional<at::Tensor> {
        if (is_fresh(name, fresh)) return std::nullopt;
        auto found = reader->find(name);
        if (found) *found = found->to(specs->at(name).type);
        return found;
      };
}

void want_fitting(const model::Network& network, const SoundCheckpoint& checkpoint) {
  std::vector<std::unique_ptr<const model::WeightsReader>> readers;
  for (const checkpoint::FileEntry& file : checkpoint.manifest.files)
    readers.push_back(std::make_unique<model::WeightsReader>(checkpoint.path / file.name));
  Faults faults;
  for (const auto& [name, spec] : tensors_of(network)) {
    std::optional<model::WeightsReader::Entry> found;
    for (const auto& reader : readers)
      if (!found) found = reader->entry(name);
    if (found)
      check_tensor(spec, *found, faults);
    else
      faults.add("missing", name);
  }
  if (!faults.empty())
    throw CannotMeet("the checkpoint " + checkpoint.path.string() + " does not fit " +
                     network.name + ":" + faults.text());
}

}  // namespace pipedream::train
