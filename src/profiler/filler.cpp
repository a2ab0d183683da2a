#include "profiler/filler.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include "core/median.h"
#include "model/mark.h"

namespace pipedream::profiler {

using model::Interval;
using model::Mark;

namespace {

constexpr std::int64_t kSide = 2048;  // the product of two such matrices takes well under 1 ms

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
  empty_ = time_empty_intervals();
}

Nanos Filler::time_empty_intervals() {
  constexpr std::size_t kMarks = 101;
  queue(std::chrono::milliseconds(5));  // keeps the device busy until all marks are queued
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < kMarks; ++i) marks.emplace_back(device_);
  std::vector<Nanos> lengths;
  for (std::size_t i = 1; i < kMarks; ++i) lengths.push_back(marks[i].since(marks[i - 1]));
  return median(std::move(lengths));
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
