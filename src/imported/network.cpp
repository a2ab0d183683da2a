#include "imported/network.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/check.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"
#include "imported/assembling.h"
#include "imported/operators.h"
#include "imported/schema.h"
#include "imported/special.h"
#include "pt2/calls.h"
#include "pt2/digest.h"

namespace pipedream::imported {
namespace {

using pt2::Input;
using pt2::TensorId;

// For each tensor of the program, the tensor that replaces it: for a parameter, the first used
// parameter with the same stored tensor; for any other, the tensor itself.
std::vector<TensorId> same_tensors(const pt2::Archive& archive,
                                   std::map<std::string, std::string>& second_names) {
  const pt2::Program& program = archive.program();
  std::vector<bool> is_used(program.tensors.size(), false);
  for (const pt2::Call& call : program.calls)
    for (const TensorId tensor : reads_of(call)) is_used[tensor.index()] = true;
  std::vector<TensorId> same;
  for (std::size_t t = 0; t < program.tensors.size(); ++t) same.push_back(id_at<TensorId>(t));
  std::map<pt2::StoredTensor, std::vector<const Input*>> names;  // of each stored parameter
  for (const Input& input : program.inputs)
    if (input.kind == Input::Kind::kParameter) names[archive.stored(input)].push_back(&input);
  for (const auto& [stored, inputs] : names) {
    const auto used = std::find_if(inputs.begin(), inputs.end(), [&](const Input* input) {
      return is_used[input->tensor.index()];
    });
    const Input& best = used == inputs.end() ? *inputs.front() : **used;
    for (const Input* input : inputs) {
      same[input->tensor.index()] = best.tensor;
      if (input != &best) second_names.emplace(input->name, best.name);
    }
  }
  return same;
}

// Describes the argument of a call that no operator can take, for messages; empty if all arguments
// are fine.
std::string unsupported_argument(const pt2::Call& call) {
  for (const pt2::NamedArgument& each : call.arguments)
    if (const auto* odd = std::get_if<pt2::Unsupported>(&each.value))
      return odd->kind.starts_with("as_sym")
                 ? " with a number that forward computes, as .item() does,"
                 : " with an argument of the kind " + printable(odd->kind);
  return "";
}

// Throws CannotMeet with all operators that cannot be called, each with the modules that have it.
void want_known_operators(const pt2::Program& program, const std::string& file) {
  std::map<std::string, std::set<std::string>> modules;  // by operator
  for (const pt2::Call& call : program.calls) {
    const std::string odd = unsupported_argument(call);
    if (is_allowed(call.op) && is_computable(call) && find_operator(call) && odd.empty()) continue;
    const std::string op = call.op + (call.overload.empty() ? "" : "." + call.overload);
    modules[printable(op, 200) + odd].insert(pt2::module_text(call));
  }
  if (modules.empty()) return;
  constexpr std::size_t kShown = 3;
  std::string lines;
  for (const auto& [op, paths] : modules) {
    std::vector<std::string> shown(paths.begin(), paths.end());
    const std::size_t more = shown.size() > kShown ? shown.size() - kShown : 0;
    shown.resize(shown.size() - more);
    lines += "\n  " + op + " in " + joined(shown) +
             (more > 0 ? " and " + std::to_string(more) + " more" : "");
  }
  throw CannotMeet(file + ": these operators are not supported:" + lines);
}

// torch.export of torch 2.10 gives the final states of an LSTM four dimensions instead of three.
// Everything computed from them then has a wrong shape. Throws CannotMeet if the program uses such
// a state.
void want_right_states(const pt2::Program& program, const std::string& file) {
  std::set<TensorId> used(program.outputs.begin(), program.outputs.end());
  for (const pt2::Call& call : program.calls)
    for (const TensorId tensor : reads_of(call)) used.insert(tensor);
  for (const pt2::Call& call : program.calls) {
    if (call.op != "aten::lstm") continue;
    const auto made = makes_of(call);
    for (std::size_t i = 1; i < made.size(); ++i)
      if (used.contains(made[i]) && program.tensors[made[i].index()].sizes.size() > 3)
        throw CannotMeet(
            file + ": torch.export wrote wrong shapes for the final states of the LSTM '" +
            pt2::module_text(call) +
            "': use its output instead, such as output[:, -1], or let pipedream.train of the "
            "Python package export the model");
  }
}

// Throws CannotMeet if no trained parameter reaches the output that the loss is computed from.
void want_gradient(const pt2::Program& program, std::vector<bool> has_gradient,
                   const std::string& file) {
  for (const pt2::Call& call : program.calls) {
    if (call.without_gradient || plain_name(call.op) == "detach") continue;
    const auto reads = reads_of(call);
    if (std::none_of(reads.begin(), reads.end(),
                     [&](TensorId tensor) { return has_gradient[tensor.index()]; }))
      continue;
    // What is written may be a view of a tensor that later calls read.
    if (!writes_of(call).empty()) return;
    for (const TensorId made : makes_of(call))
      has_gradient[made.index()] = pt2::is_real(program.tensors[made.index()].type);
  }
  if (!has_gradient[program.outputs.front().index()])
    throw CannotMeet(file +
                     ": what the model returns depends on none of its trained parameters: does "
                     "forward() detach it, or compute it under torch.no_grad()?");
}

}  // namespace

Model::Model(const std::filesystem::path& file, Kernels kernels)
    : name_(file.stem().string()),
      kernels_(kernels),
      archive_(std::make_shared<const pt2::Archive>(file)) {
  const auto same = same_tensors(*archive_, second_names_);
  safe_ = make_safe(archive_->program(), same, file.string());
  want_known_operators(safe_.program, file.string());
  want_right_states(safe_.program, file.string());
  is_trained_.assign(safe_.program.tensors.size(), false);
  for (const Input& input : safe_.program.inputs) {
    if (input.kind != Input::Kind::kParameter) continue;
    const pt2::StoredTensor& stored = archive_->stored(input);
    is_trained_[input.tensor.index()] = stored.needs_gradient;
    if (stored.needs_gradient && stored.type != pt2::Type::kFloat)
      throw CannotMeet(file.string() + ": the parameter '" + printable(input.name) +
                       "' is not of the type float32: call model.float() before the export");
  }
  layers_ = group_calls(safe_, is_trained_);
  if (safe_.program.outputs.empty())
    throw CannotMeet(file.string() + ": the model returns no tensor");
  if (layers_.empty() ||
      std::find(is_trained_.begin(), is_trained_.end(), true) == is_trained_.end())
    throw CannotMeet(file.string() + ": the model has no parameters that could be trained" +
                     (layers_.empty() ? "" : "; requires_grad is False for all of them"));
  want_gradient(safe_.program, is_trained_, file.string());
}

Loss Model::default_loss() const { return fitting_loss(safe_.program); }

std::optional<std::int64_t> Model::fixed_batch() const {
  if (!safe_.program.symbol.empty()) return std::nullopt;
  return safe_.program.samples;
}

std::vector<std::string> Model::notes() const {
  std::vector<std::string> notes;
  const std::string file = archive_->path().string();
  if (const auto batch = fixed_batch())
    notes.push_back(file + " was exported for minibatches of " + std::to_string(*batch) +
                    " samples only: they are not cut, and a short last one is left out. "
                    "dynamic_shapes=({0: torch.export.Dim(\"batch\")},) exports for any number");
  bool is_evaluating = false;
  for (const pt2::Call& call : safe_.program.calls)
    is_evaluating = is_evaluating || is_in_training_mode(call) == false;
  if (is_evaluating)
    notes.push_back(file +
                    " has layers in evaluation mode, which train as they are: call model.train() "
                    "before the export to train with dropout and batch statistics");
  if (!safe_.program.fixed_sizes.empty())
    notes.push_back(file +
                    " has free sizes besides the number of samples: they are those of the "
                    "example that was exported");
  if (safe_.program.outputs.size() > 1)
    notes.push_back(file + " returns several tensors: the loss is computed from the first");
  return notes;
}

model::Network Model::assembled(Loss loss, std::int64_t batch) const {
  try {
    return assemble({name_, archive_, safe_, is_trained_, layers_, second_names_, kernels_}, loss,
                    batch);
  } catch (const BadValue& error) {  // a formula has no value for this number of samples
    throw CannotMeet("`batch` " + std::to_string(batch) + ": " + archive_->path().string() + ": " +
                     error.what());
  }
}

model::Network Model::network(Loss loss, std::int64_t batch) const {
  const std::string file = archive_->path().string();
  if (const auto fixed = fixed_batch(); fixed && *fixed != batch)
    throw CannotMeet("`batch` " + std::to_string(batch) + ": " + file +
                     " was exported for minibatches of " + std::to_string(*fixed) +
                     " samples only; dynamic_shapes=({0: torch.export.Dim(\"batch\")},) exports "
                     "for any number");
  if (batch > safe_.program.most_samples)
    throw CannotMeet("`batch` " + std::to_string(batch) + ": " + file +
                     " was exported for at most " + std::to_string(safe_.program.most_samples) +
                     " samples");
  model::Network network = assembled(loss, batch);
  network.second_names = second_names_;
  for (const Input& input : archive_->program().inputs)
    if (input.kind == Input::Kind::kBuffer && !input.is_in_state_dict)
      network.not_in_state_dict.insert(input.name);
  network.facts["program"] = pt2::digest_of(archive_->program());
  network.has_fixed_batch = fixed_batch().has_value();
  return network;
}

}  // namespace pipedream::imported
