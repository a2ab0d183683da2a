// What libtorch knows of the operators that a program calls.
#pragma once

#include <optional>

#include <ATen/core/dispatch/Dispatcher.h>

#include "pt2/program.h"

namespace pipedream::imported {

// The operator of a call, or nullopt if libtorch has none of that name.
[[nodiscard]] std::optional<c10::OperatorHandle> find_operator(const pt2::Call& call);

// The tensors that a call writes into. Running averages of batch normalisation are among them,
// which libtorch's schemas do not tell.
[[nodiscard]] std::vector<pt2::TensorId> writes_of(const pt2::Call& call);
// The tensors whose memory the results of the call may share.
[[nodiscard]] std::vector<pt2::TensorId> viewed_by(const pt2::Call& call);

// The call that returns what `call` would write into its first argument. nullopt if `call` does not
// work in place, or if libtorch has no such operator.
[[nodiscard]] std::optional<pt2::Call> out_of_place(const pt2::Call& call);

}  // namespace pipedream::imported
