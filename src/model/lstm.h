// One LSTM layer that is fast on x86-64 and on 64-bit Arm.
#pragma once

#include "model/layer.h"

namespace pipedream::model {

struct LstmOptions {
  bool has_biases = true;
  bool bidirectional = false;
  bool training = true;
};
struct LstmResult {
  at::Tensor output;  // [N, T, hidden], or [N, T, 2·hidden] if bidirectional
  at::Tensor hidden;  // [directions, N, hidden]: the state after the last step
  at::Tensor cell;    // [directions, N, hidden]
};
// Runs at::lstm over `x` [N, T, in], from the states `hidden` and `cell` [directions, N, hidden].
// `weights` are weight_ih, weight_hh and, with biases, bias_ih and bias_hh, for each direction. On
// a 64-bit Arm CPU, float is computed by libtorch's own kernels instead of oneDNN's: libtorch would
// choose oneDNN's, which take about three times as long there for widths around 1000.
[[nodiscard]] LstmResult run_lstm(const at::Tensor& x, const at::Tensor& hidden,
                                  const at::Tensor& cell, const Tensors& weights,
                                  const LstmOptions& options);

// The output of run_lstm() from states of zeros, with biases.
[[nodiscard]] at::Tensor unroll_lstm(const at::Tensor& x, const Tensors& weights,
                                     bool bidirectional, bool training);

}  // namespace pipedream::model
