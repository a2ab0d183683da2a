#include "train/averaging_time.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "core/machine.h"
#include "model/layer.h"
#include "model/threads.h"
#include "transport/all_reduce.h"
#include "transport/in_process.h"

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

// The first worker's; a failure of one ends all.
std::vector<Nanos> average_together(const AveragingOf& what) {
  const auto channels = transport::connect_in_process(what.replicas);
  std::vector<Nanos> rounds;
  std::vector<std::exception_ptr> failures(channels.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < channels.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        const at::NoGradGuard no_grad;
        model::use_threads(what.threads);
        Averager averager(*channels[i], what);
        for (std::size_t round = 0; round < kRounds; ++round) {
          const Nanos took = averager.round();
          if (i == 0) rounds.push_back(took);
        }
      } catch (const transport::Aborted&) {  // whoever failed tells of it
      } catch (const std::exception& error) {
        failures[i] = std::current_exception();
        channels[i]->abort(error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return rounds;
}

}  // namespace

Nanos averaging_time(const AveragingOf& what) {
  AveragingOf measured = what;
  measured.gradients = first_of(what.gradients, kMost);
  if (sum_of(measured.gradients) == Bytes{0}) return Nanos(0);
  std::vector<Nanos> rounds = average_together(measured);
  const auto middle = rounds.begin() + kRounds / 2;
  std::nth_element(rounds.begin(), middle, rounds.end());
  const double scale = static_cast<double>(sum_of(what.gradients).count) /
                       static_cast<double>(sum_of(measured.gradients).count);
  return std::max(Nanos(0), from_seconds(to_seconds(*middle) * scale));
}

}  // namespace pipedream::train
