// Operators that are computed here instead of by libtorch, because they draw random numbers, update
// running averages, behave differently in training and evaluation, or are faster here.
#pragma once

#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include "model/layer.h"
#include "pt2/program.h"

namespace pipedream::imported {

// What a call is told about the forward pass that it is part of.
struct Surroundings {
  model::Pass pass;  // each call that draws random numbers increments `random.draw`
  at::Device device{at::kCPU};
};

// Computes a call. On entry `stack` has the arguments in the order of the operator's schema, with
// all defaults filled in; on return it has the results.
using Special = void (*)(const c10::OperatorHandle& op, std::vector<c10::IValue>& stack,
                         Surroundings& surroundings);

// Who computes convolutions and LSTMs: this program where it is faster, or always libtorch.
enum class Kernels { kFastest, kLibtorch };

// The computation that replaces the operator; null for all others, which libtorch computes.
[[nodiscard]] Special special_for(const pt2::Call& call, Kernels kernels = Kernels::kFastest);

// Whether this program can compute the call. It cannot if libtorch would draw the random numbers.
[[nodiscard]] bool is_computable(const pt2::Call& call);

// Whether the call draws random numbers in training.
[[nodiscard]] bool draws(const pt2::Call& call);

// Whether the call was exported in training mode, for operators that know a difference; nullopt for
// all others.
[[nodiscard]] std::optional<bool> is_in_training_mode(const pt2::Call& call);

}  // namespace pipedream::imported
