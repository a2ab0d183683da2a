// Templates behind Builder::add: they turn a module or function with any allowed signature into a
// function from a list of tensors to a list of tensors. <pipedream/pipedream.h> includes this file.
// Programs should not use the names in it, which may change at any time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pipedream/errors.h>

#include <torch/torch.h>

namespace pipedream {
inline namespace v1 {
namespace detail {

using Tensors = std::vector<torch::Tensor>;

// A layer that one worker has made, ready to run.
struct Computation {
  // Owns the weights. Null if the layer is a function, which has none.
  std::shared_ptr<torch::nn::Module> module;
  std::function<Tensors(const Tensors&)> forward;
};

// Makes a layer. Every call returns a new one: workers share no modules.
using Recipe = std::function<Computation()>;

// The largest number of inputs that a layer may take as separate arguments.
inline constexpr std::size_t kMostArguments = 8;

// Appends to `list` what a layer returned: a tensor, a std::vector of tensors, or a std::tuple (or
// other type with std::tuple_size) of these.
inline void append(Tensors& list, const torch::Tensor& result) { list.push_back(result); }
inline void append(Tensors& list, const Tensors& results) {
  list.insert(list.end(), results.begin(), results.end());
}
template <class Tuple>
requires requires { std::tuple_size<Tuple>::value; }
void append(Tensors& list, const Tuple& results) {
  std::apply([&list](const auto&... each) { (append(list, each), ...); }, results);
}

// Whether `Function` can be called with sizeof...(I) tensors.
template <std::size_t>
using Argument = const torch::Tensor&;
template <class Function, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<Function&, Argument<I>...>;
}
// Whether `Function` can be called with n tensors for any n from 1 to sizeof...(N).
template <class Function, std::size_t... N>
constexpr bool takes_any(std::index_sequence<N...>) {
  return (takes<Function>(std::make_index_sequence<N + 1>{}) || ...);
}

// Whether a function type is declared with one parameter, of type torch::TensorList. takes() cannot
// tell, because a single tensor converts to a torch::TensorList.
template <class>
struct IsOfList : std::false_type {};
template <class Result, class Taken>
struct IsOfList<Result(Taken)> : std::is_same<std::remove_cvref_t<Taken>, torch::TensorList> {};
template <class Result, class Taken>
struct IsOfList<Result (*)(Taken)> : IsOfList<Result(Taken)> {};
template <class Class, class Result, class Taken>
struct IsOfList<Result (Class::*)(Taken)> : IsOfList<Result(Taken)> {};
template <class Class, class Result, class Taken>
struct IsOfList<Result (Class::*)(Taken) const> : IsOfList<Result(Taken)> {};
template <class Class, class Result, class Taken>
struct IsOfList<Result (Class::*)(Taken) noexcept> : IsOfList<Result(Taken)> {};
template <class Class, class Result, class Taken>
struct IsOfList<Result (Class::*)(Taken) const noexcept> : IsOfList<Result(Taken)> {};

// Whether `Function`, a function, a class with operator() or a Forward, is declared with one
// torch::TensorList. False for overloaded and generic functions, which have no single declaration.
template <class Function>
constexpr bool takes_list() {
  if constexpr (requires { Function::kTakesList; })
    return Function::kTakesList;
  else if constexpr (requires { &Function::operator(); })
    return IsOfList<decltype(&Function::operator())>::value;
  else
    return IsOfList<Function>::value;
}
// Whether `Module::forward` is declared with one torch::TensorList. False if it is overloaded or a
// template.
template <class Module>
constexpr bool forward_takes_list() {
  if constexpr (requires { &Module::forward; })
    return IsOfList<decltype(&Module::forward)>::value;
  else
    return false;
}

// Calls `function` with sizeof...(I) arguments, the first tensors of `inputs`.
template <class Function, std::size_t... I>
Tensors call_with(Function& function, const Tensors& inputs, std::index_sequence<I...>) {
  Tensors results;
  append(results, function(inputs[I]...));
  return results;
}

// Calls `function` with one argument per tensor of `inputs` or, if it takes a list, with `inputs`
// as its only argument. Throws BadUsage if it does not take that number of tensors. Callers leave
// `N` at 1: the function calls itself with the next N until N is the number of inputs.
template <std::size_t N = 1, class Function>
Tensors call(Function& function, const Tensors& inputs) {
  if constexpr (takes_list<Function>() ||
                !takes_any<Function>(std::make_index_sequence<kMostArguments>{})) {
    static_assert(std::is_invocable_v<Function&, const Tensors&>,
                  "a layer takes torch::Tensors, at most 8, or one std::vector or "
                  "torch::TensorList of them");
    Tensors results;
    append(results, function(inputs));
    return results;
  } else if constexpr (N > kMostArguments) {
    throw BadUsage("it does not take " + std::to_string(inputs.size()) + " inputs");
  } else {
    if constexpr (takes<Function>(std::make_index_sequence<N>{}))
      if (inputs.size() == N) return call_with(function, inputs, std::make_index_sequence<N>{});
    return call<N + 1>(function, inputs);
  }
}

// A module as a function object that call() accepts. Refers to the module.
template <class Module>
struct Forward {
  static constexpr bool kTakesList = forward_takes_list<Module>();
  Module& module;
  template <class... T>
  requires requires(Module& of, const T&... x) { of.forward(x...); }
  decltype(auto) operator()(const T&... x) { return module.forward(x...); }
};

// The layer that runs `module`. The overloads take what a factory may return: a std::shared_ptr of
// a module, a torch::nn::AnyModule, or a module holder such as torch::nn::Linear.
template <class Module>
Computation computation_of(std::shared_ptr<Module> module) {
  static_assert(std::is_base_of_v<torch::nn::Module, Module>,
                "a layer's factory returns a torch::nn module");
  return {module, [module](const Tensors& inputs) {
            Forward<Module> forward{*module};
            return call(forward, inputs);
          }};
}
inline Computation computation_of(torch::nn::AnyModule any) {
  const auto shared = std::make_shared<torch::nn::AnyModule>(std::move(any));
  return {shared->ptr(), [shared](const Tensors& inputs) {
            Forward<torch::nn::AnyModule> forward{*shared};
            return call(forward, inputs);
          }};
}
template <class Module>
Computation computation_of(const torch::nn::ModuleHolder<Module>& holder) {
  return computation_of(holder.ptr());
}

// The recipe for the argument `layer` of Builder::add. If it can be called without arguments it is
// a factory of modules, else a function of tensors. Each layer made from a function has its own
// copy of it.
template <class Layer>
Recipe recipe_of(Layer layer) {
  if constexpr (std::is_invocable_v<Layer&>)
    return [layer]() mutable { return computation_of(layer()); };
  else
    return [layer] {
      return Computation{
          nullptr, [own = layer](const Tensors& inputs) mutable { return call(own, inputs); }};
    };
}

}  // namespace detail
}  // namespace v1
}  // namespace pipedream
