#include "model/ties.h"

#include <map>

#include "core/check.h"

namespace pipedream::model {
namespace {

// Every parameter in layer order.
std::vector<Use> all_uses(const std::vector<LayerSpec>& specs) {
  std::vector<Use> uses;
  for (std::size_t layer = 0; layer < specs.size(); ++layer)
    for (std::size_t i = 0; i < specs[layer].parameters.size(); ++i)
      uses.push_back({id_at<LayerId>(layer), i});
  return uses;
}

}  // namespace

std::vector<Tie> ties_of(const Network& network) {
  const std::vector<Use> uses = all_uses(network.specs);
  std::map<std::string, std::vector<Use>> tied;  // by the owner's name, without the owner
  for (const Use& use : uses) {
    const TensorSpec& spec = parameter_spec(network.specs, use);
    if (!spec.tied_to.empty()) tied[spec.tied_to].push_back(use);
  }
  std::vector<Tie> ties;
  for (const Use& use : uses) {
    const std::string& name = parameter_spec(network.specs, use).name;
    const auto others = tied.find(name);
    if (others == tied.end()) continue;
    ties.push_back({name, {use}});
    ties.back().uses.insert(ties.back().uses.end(), others->second.begin(), others->second.end());
  }
  PD_CHECK(ties.size() == tied.size());
  return ties;
}

std::optional<Use> find_parameter(const std::vector<LayerSpec>& specs, std::string_view name) {
  for (const Use& use : all_uses(specs))
    if (parameter_spec(specs, use).name == name) return use;
  return std::nullopt;
}

const TensorSpec& parameter_spec(const std::vector<LayerSpec>& specs, const Use& use) {
  return specs.at(use.layer.index()).parameters.at(use.parameter);
}

Use owner_of(const std::vector<LayerSpec>& specs, const Use& use) {
  const std::string& name = parameter_spec(specs, use).tied_to;
  if (name.empty()) return use;
  const std::optional<Use> owner = find_parameter(specs, name);
  PD_CHECK(owner.has_value());
  return *owner;
}

}  // namespace pipedream::model
