// One LSTM layer, fast on every CPU we meet.
#pragma once

#include "model/layer.h"

namespace pipedream::model {

// at::lstm over x [N, T, in], beginning with zeros; returns [N, T, hidden], or [N, T, 2·hidden] in
// both directions. `weights` are weight_ih, weight_hh, bias_ih, bias_hh for each direction. On
// 64-bit Arm libtorch's own kernels are used instead of oneDNN's, which it would choose and which
// take about three times as long there for widths around 1000.
[[nodiscard]] at::Tensor unroll_lstm(const at::Tensor& x, const Tensors& weights,
                                     bool bidirectional, bool training);

}  // namespace pipedream::model
