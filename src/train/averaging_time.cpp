#include "train/averaging_time.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

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
// Far more than caches hold; the rest would take as long again, and memory besides.
constexpr Bytes kMost{256 << 20};

std::int64_t floats_in(Bytes bytes) { return bytes.count / std::int64_t{sizeof(float)}; }

Bytes sum_of(const std::vector<Bytes>& all) {
  Bytes sum;
  for (const Bytes bytes : all) sum += bytes;
  return sum;
}

// Of the first so many bytes.
std::vector<Bytes> first_of(const std::vector<Bytes>& all, Bytes most) {
  std::vector<Bytes> taken;
  for (const Bytes bytes : all) {
    taken.push_back(std::min(bytes, most));
    most = most - taken.back();
  }
  return taken;
}

// What a backward writes.
at::Tensor new_gradient(Bytes bytes) { return at::ones({floats_in(bytes)}); }

class Averager {
 public:
  Averager(transport::Transport& channel, const AveragingOf& what)
      : channel_(channel), what_(what) {
    for (int i = 0; i < what.replicas; ++i) members_.push_back({i});
    bucket_ = at::zeros({floats_in(sum_of(what.gradients))});
  }

  // How much longer one round takes than without replicas.
  Nanos round() {
    const Nanos begin = processor_time();
    keep();
    const Nanos kept = processor_time();
    collect();
    const Nanos collected = processor_time();
    transport::all_reduce(channel_, members_, 0,
                          {bucket_.data_ptr<float>(), static_cast<std::size_t>(bucket_.numel())},
                          {}, std::chrono::steady_clock::now() + kPatience);
    const Nanos sums = processor_time() - collected;
    return (collected - kept) - (kept - begin) + (what_.with_sums ? sums : Nanos(0));
  }

 private:
  void keep() const {
    model::Tensors gradients;
    for (const Bytes bytes : what_.gradients) gradients.push_back(new_gradient(bytes));
  }
  void collect() const {
    std::int64_t place = 0;
    for (const Bytes bytes : what_.gradients) {
      bucket_.slice(0, place, place + floats_in(bytes)).copy_(new_gradient(bytes));
      place += floats_in(bytes);
    }
  }

  transport::Transport& channel_;
  const AveragingOf& what_;
  std::vector<WorkerId> members_;
  at::Tensor bucket_;
};

// The first worker's.
std::vector<Nanos> average_together(const AveragingOf& what) {
  std::vector<Nanos> rounds;
  runtime::run_on_threads(what.replicas, std::nullopt, [&](const runtime::Seat& seat) {
    const at::NoGradGuard no_grad;
    model::use_threads(what.threads);
    Averager averager(seat.channels.collectives, what);
    for (std::size_t round = 0; round < kRounds; ++round) {
      const Nanos took = averager.round();
      if (seat.me == WorkerId{0}) rounds.push_back(took);
    }
  });
  return rounds;
}

}  // namespace

Nanos averaging_time(const AveragingOf& what) {
  AveragingOf measured = what;
  measured.gradients = first_of(what.gradients, kMost);
  if (sum_of(measured.gradients) == Bytes{0}) return Nanos(0);
  const double scale = static_cast<double>(sum_of(what.gradients).count) /
                       static_cast<double>(sum_of(measured.gradients).count);
  return std::max(Nanos(0), from_seconds(to_seconds(median(average_together(measured))) * scale));
}

}  // namespace pipedream::train
