#include "imported/schema.h"

#include <algorithm>
#include <set>

#include "imported/operators.h"
#include "pt2/calls.h"

namespace pipedream::imported {

using pt2::Call;
using pt2::TensorId;

std::optional<c10::OperatorHandle> find_operator(const Call& call) {
  return c10::Dispatcher::singleton().findSchema({call.op, call.overload});
}

namespace {

// The tensors of those arguments whose alias annotation in the schema `wanted` accepts.
template <class Wanted>
std::vector<TensorId> annotated(const Call& call, Wanted wanted) {
  std::vector<TensorId> found;
  const auto op = find_operator(call);
  if (!op) return found;
  for (const c10::Argument& argument : op->schema().arguments()) {
    if (argument.alias_info() == nullptr || !wanted(*argument.alias_info())) continue;
    if (const pt2::Argument* given = argument_of(call, argument.name()))
      for (const TensorId tensor : tensors_in(*given)) found.push_back(tensor);
  }
  return found;
}

}  // namespace

std::vector<TensorId> writes_of(const Call& call) {
  std::vector<TensorId> found =
      annotated(call, [](const c10::AliasInfo& info) { return info.isWrite(); });
  const std::string name = plain_name(call.op);
  if (name != "batch_norm" && name != "instance_norm" && name != "native_batch_norm") return found;
  for (const char* average : {"running_mean", "running_var"})
    if (const pt2::Argument* given = argument_of(call, average))
      for (const TensorId tensor : tensors_in(*given)) found.push_back(tensor);
  return found;
}

std::vector<TensorId> viewed_by(const Call& call) {
  // Operators that may return an argument as it is, which their schemas do not tell.
  static const std::set<std::string> undeclared{"dropout", "feature_dropout", "einsum",
                                                "_unsafe_view", "_reshape_alias"};
  if (undeclared.contains(plain_name(call.op))) return reads_of(call);
  return annotated(call, [](const c10::AliasInfo&) { return true; });
}

namespace {

// A default value of a schema as an argument of a call; nullopt for kinds that no operator needs.
std::optional<pt2::Argument> as_argument(const c10::IValue& value) {
  if (value.isDouble()) return value.toDouble();
  if (value.isInt()) return pt2::Size(value.toInt());
  if (value.isBool()) return value.toBool();
  return std::nullopt;
}

// Gives the call all that `wanted` requires and `had` has a default for. torch.export leaves out
// arguments that have their default value.
bool complete(Call& call, const c10::FunctionSchema& wanted, const c10::FunctionSchema& had) {
  for (const c10::Argument& argument : wanted.arguments()) {
    if (argument.default_value() || argument_of(call, argument.name()) != nullptr) continue;
    const auto place = had.argumentIndexWithName(argument.name());
    const auto value = place ? had.arguments()[static_cast<std::size_t>(*place)].default_value()
                             : std::optional<c10::IValue>();
    const auto given = value ? as_argument(*value) : std::nullopt;
    if (!given) return false;
    call.arguments.push_back({argument.name(), *given});
  }
  return true;
}

}  // namespace

std::optional<Call> out_of_place(const Call& call) {
  if (!call.op.ends_with('_') || call.op.ends_with("__")) return std::nullopt;
  Call other = call;
  other.op.pop_back();
  // libtorch's own names for a few of them.
  if (other.op == "aten::bernoulli" && call.overload == "float") other.overload = "p";
  if (other.op == "aten::normal") other.op = "aten::normal_functional";
  const auto found = find_operator(other);
  const auto before = find_operator(call);
  if (!found || !before) return std::nullopt;
  // Arguments are given by name, so all of them must exist.
  const auto& arguments = found->schema().arguments();
  for (const pt2::NamedArgument& each : other.arguments)
    if (std::none_of(arguments.begin(), arguments.end(),
                     [&](const c10::Argument& argument) { return argument.name() == each.name; }))
      return std::nullopt;
  if (!complete(other, found->schema(), before->schema())) return std::nullopt;
  return other;
}

}  // namespace pipedream::imported
