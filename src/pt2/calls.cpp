#include "pt2/calls.h"

#include "core/text.h"

namespace pipedream::pt2 {

std::vector<TensorId> tensors_in(const Argument& argument) {
  std::vector<TensorId> found;
  if (const auto* one = std::get_if<TensorId>(&argument)) found.push_back(*one);
  if (const auto* list = std::get_if<Tensors>(&argument))
    for (const auto& each : *list)
      if (each) found.push_back(*each);
  return found;
}

std::vector<TensorId> reads_of(const Call& call) {
  std::vector<TensorId> found;
  for (const NamedArgument& each : call.arguments)
    for (const TensorId tensor : tensors_in(each.value)) found.push_back(tensor);
  return found;
}

std::vector<TensorId> makes_of(const Call& call) {
  std::vector<TensorId> found;
  for (const Result& result : call.results) {
    if (const auto* one = std::get_if<TensorId>(&result)) found.push_back(*one);
    if (const auto* list = std::get_if<std::vector<TensorId>>(&result))
      found.insert(found.end(), list->begin(), list->end());
  }
  return found;
}

const Argument* argument_of(const Call& call, std::string_view name) {
  for (const NamedArgument& each : call.arguments)
    if (each.name == name) return &each.value;
  return nullptr;
}

std::string module_text(const Call& call) {
  if (call.modules.empty() || call.modules.back().path.empty()) return "the model itself";
  return printable(call.modules.back().path);
}

}  // namespace pipedream::pt2
