// Fuzzes the parsers of an exported program and of its list of tensors. In a program that is read,
// every call uses only tensors that are there before it.
#include "pt2/program.h"

#include <set>

#include "property.h"

using namespace pipedream;

namespace {

void check(const pt2::Program& program) {
  std::set<pt2::TensorId> known;
  for (const pt2::Input& input : program.inputs) known.insert(input.tensor);
  const auto want = [&](pt2::TensorId tensor) {
    PD_CHECK(tensor.index() < program.tensors.size() && known.contains(tensor));
  };
  for (const pt2::Call& call : program.calls) {
    for (const pt2::NamedArgument& argument : call.arguments) {
      if (const auto* one = std::get_if<pt2::TensorId>(&argument.value)) want(*one);
      if (const auto* list = std::get_if<pt2::Tensors>(&argument.value))
        for (const auto& tensor : *list)
          if (tensor) want(*tensor);
    }
    for (const pt2::Result& result : call.results) {
      if (const auto* one = std::get_if<pt2::TensorId>(&result)) known.insert(*one);
      if (const auto* list = std::get_if<std::vector<pt2::TensorId>>(&result))
        known.insert(list->begin(), list->end());
    }
  }
  for (const pt2::TensorId output : program.outputs) want(output);
  for (const pt2::Tensor& tensor : program.tensors)
    for (const pt2::Size& size : tensor.sizes) try {
        (void)size.at(3);
      } catch (const BadValue&) {  // too large, or divided by zero
      }
}

template <class Parse>
void reads_or_refuses(Parse parse) {
  try {
    fuzz::reads_or_refuses<BadFile>("model.json", parse);
  } catch (const CannotMeet& refusal) {
    PD_CHECK(std::string_view(refusal.what()).find("model.json") != std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  reads_or_refuses([&] { check(pt2::parse_program(text, "model.json")); });
  reads_or_refuses([&] {
    for (const auto& [name, tensor] : pt2::parse_stored_tensors(text, "model.json")) try {
        (void)pt2::bytes_needed(tensor);
      } catch (const BadValue&) {  // too large to count
      }
  });
  return 0;
}
