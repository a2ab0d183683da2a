#include "imported/step.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/jit_type.h>

#include "core/check.h"
#include "core/error.h"
#include "core/match.h"
#include "imported/schema.h"
#include "model/precision.h"
#include "pt2/calls.h"

namespace pipedream::imported {
namespace {

using c10::IValue;
using c10::TypeKind;

// The type of an argument without "may be none".
c10::TypePtr plain_type(const c10::Argument& argument) {
  c10::TypePtr type = argument.real_type();
  while (type->kind() == TypeKind::OptionalType) type = type->containedType(0);
  return type;
}

bool is_list_of_tensors(const c10::TypePtr& type) {
  if (type->kind() != TypeKind::ListType) return false;
  c10::TypePtr element = type->containedType(0);
  while (element->kind() == TypeKind::OptionalType) element = element->containedType(0);
  return element->kind() == TypeKind::TensorType;
}

bool has_optional_elements(const c10::TypePtr& type) {
  return type->containedType(0)->kind() == TypeKind::OptionalType;
}

// A number where a tensor is wanted. Like a number in Python, it does not change the type of a
// result.
IValue wrapped(const at::Scalar& number, at::Device device) {
  at::Tensor tensor = at::scalar_to_tensor(number, device);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

// A whole number for an argument of `type`.
IValue number_for(const c10::TypePtr& type, std::int64_t number, at::Device device) {
  switch (type->kind()) {
    case TypeKind::TensorType:
      return wrapped(number, device);
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      return static_cast<double>(number);
    case TypeKind::BoolType:
      return number != 0;
    default:
      return number;
  }
}

IValue real_for(const c10::TypePtr& type, double number, at::Device device) {
  return type->kind() == TypeKind::TensorType ? wrapped(number, device) : IValue(number);
}

IValue bool_for(const c10::TypePtr& type, bool flag, at::Device device) {
  return type->kind() == TypeKind::TensorType ? wrapped(flag, device) : IValue(flag);
}

at::MemoryFormat to_torch_format(pt2::MemoryFormat format) {
  switch (format) {
    case pt2::MemoryFormat::kContiguous:
      return at::MemoryFormat::Contiguous;
    case pt2::MemoryFormat::kChannelsLast:
      return at::MemoryFormat::ChannelsLast;
    case pt2::MemoryFormat::kChannelsLast3d:
      return at::MemoryFormat::ChannelsLast3d;
    case pt2::MemoryFormat::kPreserve:
      return at::MemoryFormat::Preserve;
  }
  return at::MemoryFormat::Preserve;
}

template <class Element, class From>
IValue list_of(const From& from) {
  c10::List<Element> list;
  for (const auto& each : from) list.push_back(each);
  return list;
}

}  // namespace

at::ScalarType to_torch(pt2::Type type) {
  using pt2::Type;
  switch (type) {
    case Type::kByte:
      return at::kByte;
    case Type::kChar:
      return at::kChar;
    case Type::kShort:
      return at::kShort;
    case Type::kInt:
      return at::kInt;
    case Type::kLong:
      return at::kLong;
    case Type::kHalf:
      return at::kHalf;
    case Type::kFloat:
      return at::kFloat;
    case Type::kDouble:
      return at::kDouble;
    case Type::kComplexHalf:
      return at::kComplexHalf;
    case Type::kComplexFloat:
      return at::kComplexFloat;
    case Type::kComplexDouble:
      return at::kComplexDouble;
    case Type::kBool:
      return at::kBool;
    case Type::kBFloat16:
      return at::kBFloat16;
  }
  return at::kFloat;
}

namespace {

// Prepares one argument of a call.
class ArgumentMaker {
 public:
  // `file` and `call` are named in messages. Keeps references to all arguments.
  ArgumentMaker(const c10::Argument& wanted, const SlotOf& slot_of, const std::string& file,
                const std::string& call)
      : wanted_(wanted), slot_of_(slot_of), file_(file), call_(call), type_(plain_type(wanted)) {
    is_list_ = type_->kind() == TypeKind::ListType;
  }

  // Returns what makes the argument from `given`, or its default if `given` is null. Throws BadFile
  // if the operator cannot take it.
  [[nodiscard]] Step::Maker of(const pt2::Argument* given) const {
    if (wanted_.name() == "device" && type_->kind() == TypeKind::DeviceObjType)
      return [](const Slots&, std::int64_t, const at::Device& device) { return IValue(device); };
    if (wanted_.name() == "pin_memory") return constant(IValue());
    if (given != nullptr) {
      want_enumerator(*given);
      return std::visit([this](const auto& value) { return make(value); }, *given);
    }
    if (wanted_.default_value()) return constant(*wanted_.default_value());
    throw BadFile(file_ + ": " + call_ + " lacks its argument '" + wanted_.name() + "'");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw BadFile(file_ + ": the argument '" + wanted_.name() + "' of " + call_ + " is " + what +
                  ", and wanted is " + type_->str());
  }

  // libtorch takes types, layouts and memory formats as whole numbers, and does not check them.
  void want_enumerator(const pt2::Argument& given) const {
    if (std::holds_alternative<pt2::None>(given)) return;
    const TypeKind kind = type_->kind();
    if (kind == TypeKind::ScalarTypeType && !std::holds_alternative<pt2::Type>(given))
      refuse("no type");
    if (kind == TypeKind::LayoutType && !std::holds_alternative<pt2::Layout>(given))
      refuse("no layout");
    if (kind == TypeKind::MemoryFormatType && !std::holds_alternative<pt2::MemoryFormat>(given))
      refuse("no memory format");
  }

  [[nodiscard]] static Step::Maker constant(IValue value) {
    return
        [value = std::move(value)](const Slots&, std::int64_t, const at::Device&) { return value; };
  }

  [[nodiscard]] Step::Maker make(const pt2::None&) const { return constant(IValue()); }

  [[nodiscard]] Step::Maker make(const pt2::TensorId& tensor) const {
    if (type_->kind() != TypeKind::TensorType) refuse("a tensor");
    return [slot = slot_of_(tensor)](const Slots& slots, std::int64_t, const at::Device&) {
      return IValue(slots[slot]);
    };
  }

  [[nodiscard]] Step::Maker make(const pt2::Tensors& tensors) const {
    if (!is_list_of_tensors(type_)) refuse("a list of tensors");
    std::vector<std::optional<std::size_t>> places;
    for (const auto& each : tensors)
      places.push_back(each ? std::optional(slot_of_(*each)) : std::nullopt);
    if (has_optional_elements(type_))
      return [places](const Slots& slots, std::int64_t, const at::Device&) {
        c10::List<std::optional<at::Tensor>> list;
        for (const auto& place : places)
          list.push_back(place ? std::optional(slots[*place]) : std::nullopt);
        return IValue(list);
      };
    for (const auto& place : places)
      if (!place) refuse("a list with a gap");
    return [places](const Slots& slots, std::int64_t, const at::Device&) {
      c10::List<at::Tensor> list;
      for (const auto& place : places) list.push_back(slots[*place]);
      return IValue(list);
    };
  }

  [[nodiscard]] Step::Maker make(const pt2::Size& size) const {
    if (is_list_)
      return [size](const Slots&, std::int64_t samples, const at::Device&) {
        return IValue(c10::List<std::int64_t>({size.at(samples)}));
      };
    if (size.is_number() && type_->kind() != TypeKind::TensorType)
      return constant(number_for(type_, size.at(0), at::kCPU));
    return [size, type = type_](const Slots&, std::int64_t samples, const at::Device& device) {
      return number_for(type, size.at(samples), device);
    };
  }

  [[nodiscard]] Step::Maker make(const std::vector<pt2::Size>& sizes) const {
    if (!is_list_) refuse("a list of numbers");
    if (type_->containedType(0)->kind() == TypeKind::FloatType) return numbers_of<double>(sizes);
    return numbers_of<std::int64_t>(sizes);
  }

  template <class Number>
  [[nodiscard]] static Step::Maker numbers_of(const std::vector<pt2::Size>& sizes) {
    const auto list_for = [sizes](std::int64_t samples) {
      c10::List<Number> list;
      for (const pt2::Size& size : sizes) list.push_back(static_cast<Number>(size.at(samples)));
      return IValue(list);
    };
    if (std::all_of(sizes.begin(), sizes.end(),
                    [](const pt2::Size& size) { return size.is_number(); }))
      return constant(list_for(0));
    return [list_for](const Slots&, std::int64_t samples, const at::Device&) {
      return list_for(samples);
    };
  }

  [[nodiscard]] Step::Maker make(double number) const {
    if (is_list_) return constant(list_of<double>(std::vector<double>{number}));
    return [number, type = type_](const Slots&, std::int64_t, const at::Device& device) {
      return real_for(type, number, device);
    };
  }
  [[nodiscard]] Step::Maker make(const std::vector<double>& numbers) const {
    return constant(list_of<double>(numbers));
  }

  [[nodiscard]] Step::Maker make(bool flag) const {
    return [flag, type = type_](const Slots&, std::int64_t, const at::Device& device) {
      return bool_for(type, flag, device);
    };
  }
  [[nodiscard]] Step::Maker make(const std::vector<bool>& flags) const {
    c10::List<bool> list;
    for (const bool flag : flags) list.push_back(flag);
    return constant(list);
  }

  [[nodiscard]] Step::Maker make(const std::string& text) const { return constant(text); }
  [[nodiscard]] Step::Maker make(const std::vector<std::string>&) const {
    refuse("a list of texts");
  }

  [[nodiscard]] Step::Maker make(pt2::Type type) const {
    return constant(static_cast<std::int64_t>(to_torch(type)));
  }
  [[nodiscard]] Step::Maker make(pt2::MemoryFormat format) const {
    return constant(static_cast<std::int64_t>(to_torch_format(format)));
  }
  [[nodiscard]] Step::Maker make(const pt2::Layout&) const {
    return constant(static_cast<std::int64_t>(at::kStrided));
  }
  [[nodiscard]] Step::Maker make(const pt2::Device&) const { return constant(IValue()); }
  [[nodiscard]] Step::Maker make(const pt2::Unsupported& other) const { refuse(other.kind); }

  const c10::Argument& wanted_;
  const SlotOf& slot_of_;
  const std::string& file_;
  const std::string& call_;
  c10::TypePtr type_;  // without "may be none"
  bool is_list_ = false;
};

}  // namespace

Step::Step(const pt2::Call& call, const SlotOf& slot_of, Kernels kernels, const std::string& file)
    : name_(call.op + (call.overload.empty() ? "" : "." + call.overload)),
      file_(file),
      op_(*find_operator(call)),
      special_(special_for(call, kernels)),
      without_gradient_(call.without_gradient),
      autocast_(call.autocast) {
  const auto& wanted = op_.schema().arguments();
  for (const c10::Argument& argument : wanted)
    arguments_.push_back(
        ArgumentMaker(argument, slot_of, file_, name_).of(argument_of(call, argument.name())));
  for (const pt2::NamedArgument& given : call.arguments)
    if (std::none_of(wanted.begin(), wanted.end(),
                     [&](const c10::Argument& each) { return each.name() == given.name; }))
      throw BadFile(file_ + ": " + name_ + " has no argument '" + given.name + "'");
  writes_first_ =
      !wanted.empty() && wanted[0].alias_info() != nullptr && wanted[0].alias_info()->isWrite();
  add_results(call, slot_of);
  for (const pt2::TensorId tensor : reads_of(call)) reads_.push_back(slot_of(tensor));
}

void Step::add_results(const pt2::Call& call, const SlotOf& slot_of) {
  const auto& returns = op_.schema().returns();
  if (call.results.size() > returns.size())
    throw BadFile(file_ + ": " + name_ + " has " + std::to_string(returns.size()) +
                  " results, and " + std::to_string(call.results.size()) + " are used");
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    const bool is_list = is_list_of_tensors(returns[i].type());
    const bool is_tensor = returns[i].type()->kind() == TypeKind::TensorType;
    results_.emplace_back();
    is_list_.push_back(is_list);
    std::visit(Match{[](const pt2::None&) {},
                     [&](const pt2::TensorId& tensor) {
                       if (!is_tensor) throw BadFile(file_ + ": " + name_ + " returns no tensor");
                       results_.back().push_back(slot_of(tensor));
                     },
                     [&](const std::vector<pt2::TensorId>& list) {
                       if (!is_list) throw BadFile(file_ + ": " + name_ + " returns no list");
                       for (const pt2::TensorId tensor : list)
                         results_.back().push_back(slot_of(tensor));
                     }},
               call.results[i]);
    makes_.insert(makes_.end(), results_.back().begin(), results_.back().end());
  }
}

void Step::compute(std::vector<IValue>& stack, Surroundings& surroundings) const {
  if (special_ == nullptr) {
    op_.callBoxed(stack);
    return;
  }
  const at::Tensor written = writes_first_ ? stack[0].toTensor() : at::Tensor();
  special_(op_, stack, surroundings);
  if (!writes_first_) return;
  written.copy_(stack[0].toTensor());
  stack[0] = written;
}

void Step::run(Slots& slots, std::int64_t samples, Surroundings& surroundings) const {
  std::vector<IValue> stack;
  stack.reserve(arguments_.size());
  for (const Maker& make : arguments_) stack.push_back(make(slots, samples, surroundings.device));
  std::optional<at::NoGradGuard> no_gradient;
  if (without_gradient_) no_gradient.emplace();
  std::optional<model::Autocast> autocast;
  if (autocast_)
    autocast.emplace(surroundings.device.type(), autocast_->on,
                     autocast_->type ? std::optional(to_torch(*autocast_->type)) : std::nullopt);
  compute(stack, surroundings);
  PD_CHECK(stack.size() >= results_.size());
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (results_[i].empty()) continue;
    if (!is_list_[i]) {
      slots[results_[i][0]] = stack[i].toTensor();
      continue;
    }
    const auto list = stack[i].toTensorVector();
    if (list.size() != results_[i].size())
      throw Error(name_ + " returned " + std::to_string(list.size()) + " tensors, and " +
                  std::to_string(results_[i].size()) + " when the model was exported");
    for (std::size_t t = 0; t < list.size(); ++t) slots[results_[i][t]] = list[t];
  }
}

}  // namespace pipedream::imported
