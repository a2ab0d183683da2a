#include "train/averaging_time.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include "core/machine.h"
#include "model/threads.h"
#include "transport/all_reduce.h"
#include "transport/in_process.h"

namespace pipedream::train {
namespace {

constexpr std::size_t kRounds = 7;
// More than caches hold is all alike: more would only take longer to measure.
constexpr Bytes kMost{std::int64_t{64} << 20};
constexpr std::chrono::minutes kPatience{5};

// One worker of them; the time of each round.
std::vector<Nanos> average(transport::Transport& channel, const std::vector<WorkerId>& members,
                           const AveragingOf& what) {
  const at::NoGradGuard no_grad;
  model::use_threads(what.threads);
  const at::Tensor gradient = at::ones({what.gradients.count / std::int64_t{sizeof(float)}});
  const at::Tensor bucket = at::empty(gradient.sizes());
  const std::span<float> values(bucket.data_ptr<float>(), static_cast<std::size_t>(bucket.numel()));
  std::vector<Nanos> rounds;
  for (std::size_t round = 0; round < kRounds; ++round) {
    const Nanos begin = processor_time();
    bucket.copy_(gradient);
    const Nanos collected = processor_time();
    transport::all_reduce(channel, members, 0, values, {},
                          std::chrono::steady_clock::now() + kPatience);
    const Nanos summed = processor_time();
    bucket.div_(static_cast<double>(members.size()));
    rounds.push_back(processor_time() - begin - (what.with_sums ? Nanos(0) : summed - collected));
  }
  return rounds;
}

// The first worker's; a failure of one ends all.
std::vector<Nanos> average_together(const AveragingOf& what) {
  std::vector<WorkerId> members;
  for (int i = 0; i < what.replicas; ++i) members.push_back({i});
  const auto channels = transport::connect_in_process(what.replicas);
  std::vector<std::vector<Nanos>> rounds(members.size());
  std::vector<std::exception_ptr> failures(members.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < members.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        rounds[i] = average(*channels[i], members, what);
      } catch (const std::exception& error) {
        failures[i] = std::current_exception();
        channels[i]->abort(error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return rounds.front();
}

}  // namespace

Nanos averaging_time(const AveragingOf& what) {
  AveragingOf measured = what;
  measured.gradients = std::clamp(what.gradients, Bytes{sizeof(float)}, kMost);
  std::vector<Nanos> rounds = average_together(measured);
  const auto middle = rounds.begin() + kRounds / 2;
  std::nth_element(rounds.begin(), middle, rounds.end());
  return from_seconds(to_seconds(*middle) * static_cast<double>(what.gradients.count) /
                      static_cast<double>(measured.gradients.count));
}

}  // namespace pipedream::train
