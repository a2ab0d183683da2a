#include "profiler/filler.h"

#include <algorithm>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include "profiler/stopwatch.h"

namespace pipedream::profiler {
namespace {

constexpr std::int64_t kSide = 2048;  // a product of well under a millisecond

}  // namespace

Filler::Filler(at::Device device) : device_(device) {
  if (device.is_cpu()) return;
  matrix_ = at::zeros({kSide, kSide}, at::TensorOptions().device(device));
  product_ = at::zeros_like(matrix_);
  queue_one();  // warm-up
  constexpr int kTimed = 10;
  Mark start(device_);
  for (int i = 0; i < kTimed; ++i) queue_one();
  one_ = std::max(Nanos(1000), Interval{std::move(start), Mark(device_)}.length() / kTimed);
}

void Filler::queue_one() {
  const at::NoGradGuard no_grad;
  at::mm_out(product_, matrix_, matrix_);
}

void Filler::queue(Nanos length) {
  if (device_.is_cpu()) return;
  for (Nanos queued{0}; queued < length; queued += one_) queue_one();
}

}  // namespace pipedream::profiler
