// What it costs to run one op of a schedule, besides what the layers compute. A network whose
// layers take microseconds is trained by a straight pipeline of two workers. The cost per op is the
// measured time of a minibatch less its predicted time, divided by the ops that a worker runs per
// minibatch (bar: 20 µs). Predictions leave this cost out.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "core/median.h"
#include "data/synthetic.h"
#include "model/keep_memory.h"
#include "model/zoo.h"
#include "report/table.h"
#include "train/profiling.h"
#include "training.h"

namespace {

using namespace pipedream;

constexpr int kRounds = 7;
constexpr int kWorkers = 2;
constexpr std::int64_t kBatch = 32;
constexpr std::int64_t kMinibatches = 10 * data::kSyntheticTraining / kBatch;  // ten whole epochs
constexpr double kBar = 20e-6;                                                 // seconds per op

struct Round {
  double predicted = 0;  // seconds per minibatch
  double measured = 0;   // seconds per minibatch
  double ops = 0;        // of one worker, per minibatch
  [[nodiscard]] double per_op() const { return (measured - predicted) / ops; }
};

// Returns the ops that a worker runs per minibatch, as a mean over workers.
double ops_per_minibatch(const model::Network& network, const plan::Plan& plan,
                         const data::Data& data) {
  const std::int64_t epoch = data::kSyntheticTraining / kBatch;
  const auto outcome =
      bench::trained(network, plan, data, {.minibatches = epoch, .keep_timeline = true});
  return static_cast<double>(outcome.measured.timeline.events.size()) /
         static_cast<double>(epoch * kWorkers);
}

Round measure(const model::Network& network, const data::Data& data) {
  const profile::Profile profile = train::profile_for_training(
      network, {.seed = 1, .budget = std::chrono::duration<double>(2), .workers = kWorkers}, {});
  const systems::Planned planned = bench::straight_plan(profile, kWorkers);
  return {planned.times.predicted.count(),
          bench::seconds_per_minibatch(network, planned.plan, data, {.minibatches = kMinibatches}),
          ops_per_minibatch(network, planned.plan, data)};
}

double median_of(const std::vector<Round>& rounds, double (*number)(const Round&)) {
  std::vector<double> numbers;
  for (const Round& round : rounds) numbers.push_back(number(round));
  return median(numbers);
}

}  // namespace

// usage: bench_op_cost [--json]
int main(int count, char** arguments) {
  model::keep_memory(arguments);
  const bool as_json = count > 1 && std::string(arguments[1]) == "--json";
  const model::NetworkEntry& entry = model::zoo_entry("mlp");
  const model::Network network = entry.make(
      model::Options(entry.options, {{"inputs", "16"}, {"hidden", "64"}, {"layers", "2"}}), kBatch);
  const data::Data data = data::open_data("", network, {.seed = 1});
  std::vector<Round> rounds;
  for (int i = 0; i < kRounds; ++i) {
    rounds.push_back(measure(network, data));
    std::cerr << "round " << i + 1 << " of " << kRounds << ": " << rounds.back().per_op() * 1e6
              << " µs per op\n";
  }
  const double per_op = median_of(rounds, [](const Round& round) { return round.per_op(); });
  const double predicted = median_of(rounds, [](const Round& round) { return round.predicted; });
  const double measured = median_of(rounds, [](const Round& round) { return round.measured; });
  const bool within = per_op <= kBar;
  if (as_json) {
    std::cout << nlohmann::ordered_json{{"within", within},
                                        {"microseconds_per_op", per_op * 1e6},
                                        {"ops_per_minibatch", rounds.front().ops},
                                        {"predicted_microseconds", predicted * 1e6},
                                        {"measured_microseconds", measured * 1e6}}
                     .dump(2)
              << "\n";
  } else {
    report::Table table({{"ops per minibatch", report::Align::kRight},
                         {"predicted µs", report::Align::kRight},
                         {"measured µs", report::Align::kRight},
                         {"µs per op", report::Align::kRight}});
    table.add_row({report::three_digits(rounds.front().ops), report::three_digits(predicted * 1e6),
                   report::three_digits(measured * 1e6), report::three_digits(per_op * 1e6)});
    std::cout << table.text() << "\nmedians of " << kRounds
              << " rounds; bar 20 µs: " << (within ? "" : "NOT ") << "met\n";
  }
  return within ? 0 : 1;
}
