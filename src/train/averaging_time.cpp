#include "train/averaging_time.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "core/buckets.h"
#include "core/machine.h"
#include "core/median.h"
#include "model/layer.h"
#include "model/threads.h"
#include "runtime/run.h"
#include "transport/all_reduce.h"

namespace pipedream::train {
namespace {

constexpr std::size_t kRounds = 7;
constexpr std::chrono::minutes kPatience{5};
constexpr Bytes kMost{256 << 20};  // most bytes of gradients measured; far more than caches hold

std::int64_t floats_in(Bytes bytes) { return bytes.count / std::int64_t{sizeof(float)}; }

Bytes sum_of(const std::vector<Bytes>& all) {
  Bytes sum;
  for (const Bytes bytes : all) sum += bytes;
  return sum;
}

// A gradient in new memory, as a backward leaves it.
at::Tensor new_gradient(Bytes bytes) { return at::ones({floats_in(bytes)}); }

// Measures one worker. Each worker's thread has its own.
class Averager {
 public:
  Averager(transport::Transport& channel, const AveragingOf& what)
      : channel_(channel), what_(what) {
    for (int i = 0; i < what.replicas; ++i) members_.push_back({i});
    Bytes joined{0};
    for (const Bytes bytes : what.gradients)
      if (!rule_.is_alone(bytes)) joined += bytes;
    bucket_ = at::zeros({floats_in(joined)});
  }

  // Averages once with the other workers. Returns the additional processor time compared with
  // writing the gradients and keeping them.
  Nanos round() {
    const Nanos begin = processor_time();
    keep();
    const Nanos kept = processor_time();
    const model::Tensors alone = collect();
    const Nanos collected = processor_time();
    for (const at::Tensor& gradient : alone) average(gradient);
    average(bucket_);
    const Nanos sums = processor_time() - collected;
    return (collected - kept) - (kept - begin) + (what_.with_sums ? sums : Nanos(0));
  }

 private:
  void keep() const {
    model::Tensors gradients;
    for (const Bytes bytes : what_.gradients) gradients.push_back(new_gradient(bytes));
  }
  // Returns the gradients that are buckets by themselves, and copies the others into the bucket.
  model::Tensors collect() const {
    model::Tensors alone;
    std::int64_t place = 0;
    for (const Bytes bytes : what_.gradients) {
      if (rule_.is_alone(bytes)) {
        alone.push_back(new_gradient(bytes));
        continue;
      }
      bucket_.slice(0, place, place + floats_in(bytes)).copy_(new_gradient(bytes));
      place += floats_in(bytes);
    }
    return alone;
  }
  void average(const at::Tensor& values) const {
    if (values.numel() == 0) return;
    (void)transport::all_reduce(
        channel_, members_, 0, {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())},
        {.reads_memory = true}, std::chrono::steady_clock::now() + kPatience,
        std::make_shared<const at::Tensor>(values));
  }

  transport::Transport& channel_;
  const AveragingOf& what_;
  BucketRule rule_;
  std::vector<WorkerId> members_;
  at::Tensor bucket_;
};

// Runs all rounds on one thread per worker. Returns the times of worker 0, one per round.
std::vector<Nanos> average_together(const AveragingOf& what) {
  std::vector<Nanos> rounds;
  runtime::run_on_threads(
      what.replicas, std::nullopt,
      [&](const runtime::Seat& seat) {
        const at::NoGradGuard no_grad;
        model::use_threads(what.threads);
        Averager averager(seat.channels.collectives, what);
        for (std::size_t round = 0; round < kRounds; ++round) {
          const Nanos took = averager.round();
          if (seat.me == WorkerId{0}) rounds.push_back(took);
        }
      },
      what.bind_cores ? what.threads : 0);
  return rounds;
}

}  // namespace

PartOfGradients part_to_measure(const std::vector<Bytes>& gradients) {
  PartOfGradients part;
  Bytes left = kMost;
  for (const Bytes bytes : gradients) {
    part.gradients.push_back(std::min(bytes, left));
    left = left - part.gradients.back();
  }
  const Bytes taken = kMost - left;
  if (taken > Bytes{0})
    part.times = static_cast<double>(sum_of(gradients).count) / static_cast<double>(taken.count);
  return part;
}

Nanos averaging_time(const AveragingOf& what) {
  const PartOfGradients part = part_to_measure(what.gradients);
  if (part.times == 0) return Nanos(0);
  AveragingOf measured = what;
  measured.gradients = part.gradients;
  const double seconds = to_seconds(median(average_together(measured))) * part.times;
  return std::max(Nanos(0), from_seconds(seconds));
}

}  // namespace pipedream::train
