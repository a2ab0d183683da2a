#include "model/lstm.h"

#include <ATen/ops/full.h>
#include <ATen/ops/lstm.h>
#include <c10/util/Exception.h>

#include "core/machine.h"

namespace pipedream::model {
namespace {

constexpr bool kOneDnnIsSlow = kIsArm64;

// Runs the LSTM on a packed sequence (samples of different lengths), in which all lengths happen to
// be equal, because libtorch has no oneDNN path for packed sequences. libtorch's switch for oneDNN
// is not used: it is global.
LstmResult run_packed(const at::Tensor& x, const Tensors& states, const Tensors& weights,
                      const LstmOptions& options) {
  const std::int64_t samples = x.size(0);
  const std::int64_t steps = x.size(1);
  const at::Tensor by_step = x.transpose(0, 1).reshape({steps * samples, x.size(2)});
  const at::Tensor samples_of_each_step = at::full({steps}, samples, at::kLong);
  const auto [out, hidden, cell] =
      at::lstm(by_step, samples_of_each_step, states, weights, options.has_biases,
               /*num_layers=*/1, /*dropout=*/0, options.training, options.bidirectional);
  return {out.view({steps, samples, out.size(1)}).transpose(0, 1), hidden, cell};
}

// Silences libtorch's warnings on the calling thread while it lives. cuDNN wants all weights of an
// LSTM in one piece of memory, in an order of its own. Ours lie together with other layers' weights
// in one buffer per weight version, so libtorch copies them for cuDNN in every pass, and warns of
// it every time.
class Unwarned {
 private:
  class Silence : public c10::WarningHandler {
    void process(const c10::Warning&) override {}
  };
  Silence silence_;
  c10::WarningUtils::WarningHandlerGuard guard_{&silence_};
};

}  // namespace

LstmResult run_lstm(const at::Tensor& x, const at::Tensor& hidden, const at::Tensor& cell,
                    const Tensors& weights, const LstmOptions& options) {
  if (kOneDnnIsSlow && x.is_cpu() && x.scalar_type() == at::kFloat)
    return run_packed(x, {hidden, cell}, weights, options);
  const Unwarned unwarned;
  auto [out, last_hidden, last_cell] =
      at::lstm(x, {hidden, cell}, weights, options.has_biases, /*num_layers=*/1, /*dropout=*/0,
               options.training, options.bidirectional, /*batch_first=*/true);
  return {std::move(out), std::move(last_hidden), std::move(last_cell)};
}

at::Tensor unroll_lstm(const at::Tensor& x, const Tensors& weights, bool bidirectional,
                       bool training) {
  const at::Tensor state = x.new_zeros({bidirectional ? 2 : 1, x.size(0), weights[1].size(1)});
  return run_lstm(x, state, state, weights, {true, bidirectional, training}).output;
}

}  // namespace pipedream::model
