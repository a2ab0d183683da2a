// Compares our gradients of convolutions (model/conv2d.h) with libtorch's own, for the shapes of
// VGG-16 and ResNet-50. Ratios above 1 mean that ours are faster.
#include <chrono>
#include <functional>
#include <iostream>

#include <nlohmann/json.hpp>

#include <ATen/ops/conv2d.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/median.h"
#include "core/units.h"
#include "model/conv2d.h"
#include "model/threads.h"
#include "report/table.h"

namespace {

using namespace pipedream;

struct Shape {
  std::int64_t batch, in, side, out, kernel, stride, padding;
};
constexpr Shape kShapes[] = {{32, 64, 32, 64, 3, 1, 1},  {32, 256, 8, 256, 3, 1, 1},
                             {32, 512, 2, 512, 3, 1, 1}, {8, 64, 112, 64, 3, 1, 1},
                             {8, 512, 14, 512, 3, 1, 1}, {8, 256, 56, 64, 1, 1, 0},
                             {8, 512, 28, 1024, 1, 2, 0}};
constexpr int kRepetitions = 5;

double median_seconds(const std::function<at::Tensor()>& forward, const at::Tensor& gradient,
                      const std::vector<at::Tensor>& leaves) {
  std::vector<double> seconds;
  for (int i = 0; i <= kRepetitions; ++i) {
    const at::Tensor out = forward();
    const auto start = std::chrono::steady_clock::now();
    (void)torch::autograd::grad({out}, leaves, {gradient});
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start;
    if (i > 0) seconds.push_back(used.count());  // the first run is the warm-up
  }
  return median(std::move(seconds));
}

}  // namespace

int main(int count, char** arguments) {
  const bool as_json = count > 1 && std::string(arguments[1]) == "--json";
  model::use_threads(1);
  report::Table table({{"batch × in × side → out, kernel, stride"},
                       {"libtorch's", report::Align::kRight},
                       {"ours", report::Align::kRight},
                       {"ratio", report::Align::kRight}});
  auto results = nlohmann::ordered_json::array();
  for (const Shape& s : kShapes) {
    const at::Tensor x = at::randn({s.batch, s.in, s.side, s.side}).requires_grad_();
    const at::Tensor w = at::randn({s.out, s.in, s.kernel, s.kernel}).requires_grad_();
    const auto theirs_forward = [&] {
      return at::conv2d(x, w, {}, {s.stride, s.stride}, {s.padding, s.padding});
    };
    const at::Tensor gradient = at::randn(theirs_forward().sizes());
    const double theirs = median_seconds(theirs_forward, gradient, {x, w});
    const double ours = median_seconds(
        [&] { return model::convolve(x, w, at::Tensor(), s.stride, s.padding); }, gradient, {x, w});
    const std::string name = std::to_string(s.batch) + " × " + std::to_string(s.in) + " × " +
                             std::to_string(s.side) + "² → " + std::to_string(s.out) + ", " +
                             std::to_string(s.kernel) + ", " + std::to_string(s.stride);
    const std::string ratio = std::to_string(theirs / ours);
    table.add_row({name, to_text(from_seconds(theirs)), to_text(from_seconds(ours)),
                   ratio.substr(0, ratio.find('.') + 3)});
    results.push_back({{"shape", name}, {"libtorch", theirs}, {"ours", ours}});
  }
  std::cout << (as_json ? nlohmann::ordered_json{{"results", results}}.dump(2) + "\n"
                        : table.text());
}
