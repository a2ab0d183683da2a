// Builds a tensor of several samples, sample by sample.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/ops/empty.h>

#include "model/network.h"

namespace pipedream::data {

// Returns the values of `input` for `samples`, in that order along dimension 0. For each sample,
// fill(sample, values) is called, and must write all values of that sample into the
// std::span<Number> `values`. The result is converted to the type of `input`.
template <class Number, class Fill>
[[nodiscard]] at::Tensor stacked(const model::InputSpec& input,
                                 std::span<const std::int64_t> samples, Fill fill) {
  model::Shape shape = input.shape;
  shape[0] = static_cast<std::int64_t>(samples.size());
  const at::Tensor out = at::empty(shape, c10::CppTypeToScalarType<Number>::value);
  std::size_t each = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) each *= static_cast<std::size_t>(shape[i]);
  Number* values = out.mutable_data_ptr<Number>();
  for (std::size_t i = 0; i < samples.size(); ++i)
    fill(samples[i], std::span<Number>(values + i * each, each));
  return out.to(input.type);
}

}  // namespace pipedream::data
