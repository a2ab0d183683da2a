#include "library/trial.h"

#include <algorithm>
#include <sstream>

#include "core/text.h"
#include "library/module_layer.h"
#include "library/seeded.h"
#include "model/sample_inputs.h"
#include "runtime/failure.h"

namespace pipedream::library {
namespace {

const RandomKey kTrialKey{.seed = 1};

// The module as torch prints it: "Linear(in_features=16, out_features=64, bias=true)". A container,
// which torch prints on several lines, by its class name alone.
std::string kind_of(const torch::nn::Module* module) {
  if (module == nullptr) return "function";
  std::ostringstream text;
  text << *module;
  std::string kind = text.str();
  if (kind.find('\n') != std::string::npos) kind = module->name();
  if (kind.starts_with("torch::nn::")) kind.erase(0, std::string_view("torch::nn::").size());
  const std::size_t name = std::min(kind.find('('), kind.size());
  constexpr std::string_view kImpl = "Impl";
  if (std::string_view(kind).substr(0, name).ends_with(kImpl))
    kind.erase(name - kImpl.size(), kImpl.size());
  return kind;
}

// The specs of a layer's parameters (`are_learnt`) or buffers. Throws BadUsage for a type that
// cannot be trained or saved.
std::vector<model::TensorSpec> specs_of(
    const std::string& layer, const std::vector<std::pair<std::string, at::Tensor>>& tensors,
    bool are_learnt) {
  std::vector<model::TensorSpec> specs;
  for (const auto& [name, tensor] : tensors) {
    const at::ScalarType type = tensor.scalar_type();
    if (are_learnt && type != at::kFloat)
      refuse(layer, "its parameter '" + name + "' is of type " + c10::toString(type) +
                        ", and only Float can be trained");
    if (at::isComplexType(type) || at::isQIntType(type) || at::isFloat8Type(type))
      refuse(layer, "its buffer '" + name + "' is of type " + c10::toString(type) +
                        ", which weights files do not know");
    specs.push_back({name, tensor.sizes().vec(), {}, type});
  }
  return specs;
}

// Makes the layer, always with the same random numbers.
detail::Computation make_for_trial(const Node& node) {
  detail::Computation made;
  run_seeded(kTrialKey, at::kCPU, [&] { made = node.recipe(); });
  return made;
}

// Checks two modules that the factory made with the same random numbers. Throws BadUsage unless
// their tensors have equal values and share no memory.
void compare_modules(const std::string& layer, const detail::Computation& one,
                     const detail::Computation& other) {
  if (!one.module) return;
  if (!other.module) refuse(layer, "its factory does not always return a module");
  const ModuleTensors first = tensors_of(one.module.get());
  const ModuleTensors second = tensors_of(other.module.get());
  const auto compare = [&](const auto& a, const auto& b) {
    if (a.size() != b.size()) refuse(layer, "its factory does not always make the same module");
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].second.is_same(b[i].second) || a[i].second.is_alias_of(b[i].second))
        refuse(layer,
               "its factory returns the same module again: make a new one in each call, "
               "since workers share nothing");
      if (a[i].first != b[i].first || !at::equal(a[i].second, b[i].second))
        refuse(layer, "two modules of its factory begin with different values of '" + a[i].first +
                          "': let them depend on torch's random numbers alone");
    }
  };
  compare(first.parameters, second.parameters);
  compare(first.buffers, second.buffers);
}

// The value of a source in trial number `trial`: a result of that trial, or an initial parameter.
at::Tensor trial_value(const std::vector<Node>& nodes, const Source& source, std::size_t trial) {
  const Node& of = nodes[source.node];
  if (!source.is_weight) return of.results[trial][source.number];
  const detail::Computation made = make_for_trial(of);
  return tensors_of(made.module.get()).parameters.at(source.number).second.detach();
}

// Throws BadUsage if an argument of the layer does not have its samples along dimension 0.
void check_source(const std::vector<Node>& nodes, const Node& node, std::size_t argument) {
  const Source& source = node.sources[argument];
  if (source.is_weight || type_of(nodes[source.node], source.number)) return;
  refuse(node.name, "its input " + std::to_string(argument) + ", " + text_of(nodes, source) +
                        " for " + std::to_string(kTrials[0]) +
                        " samples, does not have its samples along dimension 0");
}

// Runs the layer `made` once. Sets `node.results[trial]`, and `node.draws` if random numbers were
// drawn. Throws BadUsage if the layer writes into an input.
void run_trial(const std::vector<Node>& nodes, Node& node, const detail::Computation& made,
               std::size_t trial) {
  const at::NoGradGuard no_grad;
  Tensors arguments;
  std::vector<std::int64_t> versions;
  for (const Source& source : node.sources) {
    arguments.push_back(trial_value(nodes, source, trial));
    versions.push_back(arguments.back()._version());
  }
  node.draws |=
      run_seeded(kTrialKey, at::kCPU, [&] { node.results[trial] = made.forward(arguments); });
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i]._version() != versions[i])
      refuse(node.name, "it writes into its input " + std::to_string(i) + ", " +
                            text_of(nodes, node.sources[i]) +
                            ", which others may read: let it return a new tensor");
}

}  // namespace

[[noreturn]] void refuse(const std::string& layer, const std::string& why) {
  throw BadUsage("layer '" + printable(layer) + "': " + why);
}

std::optional<model::TensorType> type_of(const Node& node, std::size_t result) {
  std::optional<model::TensorType> found;
  for (std::size_t t = 0; t < kTrials.size(); ++t) {
    const at::Tensor& tensor = node.results[t][result];
    if (!tensor.defined() || tensor.dim() == 0 || tensor.size(0) != kTrials[t]) return std::nullopt;
    const model::TensorType type{tensor.sizes().slice(1).vec(), tensor.scalar_type()};
    if (found && (found->shape != type.shape || found->type != type.type)) return std::nullopt;
    found = type;
  }
  return found;
}

bool is_number(const Node& node, std::size_t result) {
  return std::all_of(node.results.begin(), node.results.end(), [&](const Tensors& trial) {
    return trial[result].defined() && trial[result].dim() == 0 &&
           trial[result].scalar_type() == at::kFloat;
  });
}

std::string text_of(const std::vector<Node>& nodes, const Source& source) {
  const Node& of = nodes[source.node];
  if (source.is_weight) return of.parameters[source.number].name + " of '" + of.name + "'";
  const auto type = type_of(of, source.number);
  return "'" + of.name + "' " + (type ? type_text(*type) : type_text(of.results[0][source.number]));
}

void try_input(Node& node) {
  for (std::size_t t = 0; t < kTrials.size(); ++t) {
    model::InputSpec of_trial = node.input;
    of_trial.shape.insert(of_trial.shape.begin(), kTrials[t]);
    node.results[t] = {model::sample_input(of_trial, kTrialKey.seed, static_cast<std::int64_t>(t))};
  }
}

void try_layer(const std::vector<Node>& nodes, Node& node) {
  for (std::size_t i = 0; i < node.sources.size(); ++i) check_source(nodes, node, i);
  std::string given;
  for (const Source& source : node.sources)
    given += (given.empty() ? "" : ", ") + text_of(nodes, source);
  std::array<detail::Computation, kTrials.size()> made;
  try {
    for (std::size_t t = 0; t < kTrials.size(); ++t) {
      made[t] = make_for_trial(node);
      if (made[t].module) made[t].module->train();
      if (t > 0) compare_modules(node.name, made[0], made[t]);
    }
    node.kind = kind_of(made[0].module.get());
    const ModuleTensors tensors = tensors_of(made[0].module.get());
    node.parameters = specs_of(node.name, tensors.parameters, true);
    node.buffers = specs_of(node.name, tensors.buffers, false);
    for (std::size_t t = 0; t < kTrials.size(); ++t) run_trial(nodes, node, made[t], t);
  } catch (const BadUsage& error) {
    if (std::string_view(error.what()).starts_with("layer '")) throw;
    refuse(node.name, std::string(error.what()) + " (given: " + given + ")");
  } catch (const c10::Error& error) {
    refuse(node.name, "it cannot be run on " + given + ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    refuse(node.name, "it cannot be run on " + given + ": " + error.what());
  } catch (...) {
    refuse(node.name, "it cannot be run on " + given + ": " + runtime::kNoException);
  }
  if (node.results[0].empty() || node.results[0].size() != node.results[1].size())
    refuse(node.name, "it returned " + std::to_string(node.results[0].size()) + " and then " +
                          std::to_string(node.results[1].size()) +
                          " tensors; wanted one or more, and always as many");
}

}  // namespace pipedream::library
