#include "data/task.h"

#include <algorithm>

#include <c10/core/ScalarType.h>

namespace pipedream::data {
namespace {

using model::InputSpec;

const InputSpec* find(const model::Network& network, const std::string& name) {
  const auto found = std::find_if(network.inputs.begin(), network.inputs.end(),
                                  [&](const InputSpec& input) { return input.name == name; });
  return found == network.inputs.end() ? nullptr : &*found;
}

bool are_real(const InputSpec* input, std::size_t rank) {
  return input != nullptr && c10::isFloatingType(input->type) && input->shape.size() == rank;
}

bool are_classes(const InputSpec* input, std::size_t rank) {
  return input != nullptr && input->bound > 0 && input->shape.size() == rank;
}

// Whether the network reads `input` word by word while it predicts `labels`, position by position.
bool are_words_of(const InputSpec* input, const InputSpec* labels) {
  return are_classes(input, 2) && are_classes(labels, 2) && input->shape == labels->shape;
}

std::optional<Task> task_of_one(const InputSpec& tokens) {
  if (!are_classes(&tokens, 2) || tokens.bound < 2 || tokens.shape[1] < 2) return std::nullopt;
  InputSpec none = tokens;
  none.name.clear();
  return LanguageModel{tokens, none};
}

std::optional<Task> task_of_two(const model::Network& network, const InputSpec* labels) {
  const InputSpec* tokens = find(network, "tokens");
  if (are_words_of(tokens, labels)) return LanguageModel{*tokens, *labels};
  const InputSpec* values = &network.inputs[&network.inputs[0] == labels ? 1 : 0];
  if ((are_real(values, 2) || are_real(values, 4)) && are_classes(labels, 1))
    return Classification{*values, *labels};
  return std::nullopt;
}

std::optional<Task> task_of_three(const model::Network& network, const InputSpec* labels) {
  const InputSpec* source = find(network, "source");
  const InputSpec* target = find(network, "target");
  if (are_classes(source, 2) && are_words_of(target, labels))
    return Translation{*source, *target, *labels};
  const InputSpec* frames = find(network, "frames");
  const InputSpec* words = find(network, "words");
  if (are_real(frames, 3) && are_words_of(words, labels))
    return Captioning{*frames, *words, *labels};
  return std::nullopt;
}

}  // namespace

std::optional<Task> task_of(const model::Network& network) {
  const InputSpec* labels = find(network, "labels");
  if (labels == nullptr) labels = find(network, "target");  // of imported networks
  if (network.inputs.size() == 1) return task_of_one(network.inputs[0]);
  if (network.inputs.size() == 2 && labels != nullptr) return task_of_two(network, labels);
  if (network.inputs.size() == 3) return task_of_three(network, labels);
  return std::nullopt;
}

std::string inputs_text(const model::Network& network) {
  std::string text;
  for (const InputSpec& input : network.inputs) {
    text += (text.empty() ? "" : ", ") + input.name + " [";
    for (std::size_t i = 0; i < input.shape.size(); ++i)
      text += (i == 0 ? "" : ", ") + std::to_string(input.shape[i]);
    text += "]" + (input.bound > 0 ? " below " + std::to_string(input.bound) : "");
  }
  return text;
}

}  // namespace pipedream::data
