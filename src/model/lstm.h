// One LSTM layer that is fast on x86-64 and on 64-bit Arm.
#pragma once

#include "model/layer.h"

namespace pipedream::model {

// Runs at::lstm over `x` [N, T, in] with an initial state of zeros. Returns [N, T, hidden], or
// [N, T, 2·hidden] if `bidirectional`. `weights` are weight_ih, weight_hh, bias_ih and bias_hh, for
// each direction. On a 64-bit Arm CPU, float is computed by libtorch's own kernels instead of
// oneDNN's: libtorch would choose oneDNN's, which take about three times as long there for widths
// around 1000.
[[nodiscard]] at::Tensor unroll_lstm(const at::Tensor& x, const Tensors& weights,
                                     bool bidirectional, bool training);

}  // namespace pipedream::model
