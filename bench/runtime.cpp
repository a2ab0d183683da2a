// What the runtime costs and gains, as ratios of runs that this process makes in turn:
// 1. one worker against a bare libtorch training loop (bar 0.99);
// 2. two workers with pipedream against the time that the plan predicts from this machine's profile
//    (bar 0.95), and against one worker (bar 1.8). Two bare loops at the same time show how far the
//    cores are independent;
// 3. weight stashing against --no-stash (bar: 2 % of the time).
#include <algorithm>
#include <iostream>
#include <map>
#include <thread>

#include <nlohmann/json.hpp>

#include <torch/optim/sgd.h>

#include "core/median.h"
#include "data/batches.h"
#include "model/keep_memory.h"
#include "model/threads.h"
#include "model/whole_model.h"
#include "model/zoo.h"
#include "report/table.h"
#include "train/profiling.h"
#include "training.h"

namespace {

using namespace pipedream;

constexpr int kRepetitions = 5;
constexpr std::int64_t kMinibatches = 12;
constexpr std::int64_t kWarmUp = 3;
constexpr std::uint64_t kSeed = 1;
constexpr double kRate = 0.001;
constexpr bench::RunOptions kOptions{.minibatches = kMinibatches, .rate = kRate, .seed = kSeed};
constexpr bench::RunOptions kUnstashed{
    .minibatches = kMinibatches, .rate = kRate, .seed = kSeed, .no_stash = true};

struct Case {
  std::string title;
  std::string model;
  std::int64_t batch;
  std::map<std::string, std::string> options;
  bool faster_than_one;  // whether the bar of two workers against one applies
};

const std::vector<Case> kCases{
    {"vgg16 32 px", "vgg16", 32, {{"image-size", "32"}, {"classes", "10"}}, true},
    {"gnmt8 small",
     "gnmt8",
     32,
     {{"hidden", "256"}, {"vocabulary", "2000"}, {"length", "16"}},
     false},
    {"gpt small",
     "gpt",
     16,
     {{"hidden", "256"},
      {"layers", "6"},
      {"heads", "8"},
      {"vocabulary", "2000"},
      {"context", "64"}},
     true}};

// A plain libtorch training loop. Returns seconds per minibatch.
double bare_loop(const model::Network& network, const data::Data& data) {
  model::use_threads(1);
  model::WholeModel model(network, at::kCPU, kSeed);
  std::vector<at::Tensor> parameters;
  for (const auto& [name, parameter] : model.parameters()) parameters.push_back(parameter);
  torch::optim::SGD optimiser(parameters, torch::optim::SGDOptions(kRate).momentum(0.9));
  const data::Batches batches(data.training->samples(), network.batch, kSeed, true);
  auto began = std::chrono::steady_clock::now();
  for (std::int64_t t = 0; t < kMinibatches; ++t) {
    if (t == kWarmUp) began = std::chrono::steady_clock::now();
    model::Values inputs;
    const std::vector<std::int64_t> samples = batches.samples_of(t);
    for (const model::InputSpec& input : network.inputs)
      inputs[network.graph.layer(input.layer).outputs[0]] = data.training->load(input, samples);
    optimiser.zero_grad();
    at::Tensor loss = model.forward(std::move(inputs), t).at(network.loss);
    loss.backward();
    optimiser.step();
    (void)loss.item<double>();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  return took.count() / static_cast<double>(kMinibatches - kWarmUp);
}

// Two plain loops at the same time, on two threads. Returns the mean of their seconds per
// minibatch.
double two_bare_loops(const model::Network& network, const data::Data& data) {
  double other = 0;
  std::thread beside([&] { other = bare_loop(network, data); });
  const double one = bare_loop(network, data);
  beside.join();
  return (one + other) / 2;
}

struct Ratios {
  double one_worker = 0;  // speed of one worker / speed of the bare loop
  double of_predicted = 0;
  double of_one_worker = 0;
  double two_loops = 0;  // speed of two bare loops together / speed of one alone
  double stashing = 0;   // additional time compared with --no-stash, as a share
};

Ratios measure(const Case& wanted) {
  const model::NetworkEntry& entry = model::zoo_entry(wanted.model);
  const model::Network network =
      entry.make(model::Options(entry.options, wanted.options), wanted.batch);
  const data::Data data = data::open_data("", network, {.seed = kSeed});
  std::vector<double> one_worker, of_predicted, of_one_worker, two_loops, stashing;
  for (int i = 0; i < kRepetitions; ++i) {
    const profile::Profile profile = train::profile_for_training(
        network, {.seed = kSeed, .budget = std::chrono::duration<double>(5), .workers = 2}, {});
    const systems::Planned one = bench::straight_plan(profile, 1);
    const systems::Planned two = bench::straight_plan(profile, 2);
    const double bare = bare_loop(network, data);
    const double loops = two_bare_loops(network, data);
    const double alone = bench::seconds_per_minibatch(network, one.plan, data, kOptions);
    const double both = bench::seconds_per_minibatch(network, two.plan, data, kOptions);
    const double unstashed = bench::seconds_per_minibatch(network, two.plan, data, kUnstashed);
    one_worker.push_back(bare / alone);
    of_predicted.push_back(two.times.predicted.count() / both);
    of_one_worker.push_back(alone / both);
    two_loops.push_back(2 * bare / loops);
    stashing.push_back(both / unstashed - 1);
    std::cerr << wanted.title << ", round " << i + 1 << " of " << kRepetitions
              << ", seconds per minibatch: bare loop " << bare << ", two at once " << loops
              << ", one worker " << alone << ", two " << both << " (predicted "
              << two.times.predicted.count() << "), unstashed " << unstashed << "\n";
  }
  return {median(one_worker), median(of_predicted), median(of_one_worker), median(two_loops),
          median(stashing)};
}

std::string three_decimals(double number) {
  const std::string text = report::four_decimals(number);
  return text.substr(0, text.size() - 1);
}

}  // namespace

// usage: bench_runtime [--json] [MODEL]
int main(int count, char** arguments) {
  pipedream::model::keep_memory(arguments);
  const std::vector<std::string> given(arguments + 1, arguments + count);
  const bool as_json = std::find(given.begin(), given.end(), "--json") != given.end();
  const std::string only = given.empty() || given.back() == "--json" ? "" : given.back();
  report::Table table({{"model"},
                       {"one worker / bare loop", report::Align::kRight},
                       {"two workers / predicted", report::Align::kRight},
                       {"two workers / one", report::Align::kRight},
                       {"two bare loops / one", report::Align::kRight},
                       {"stashing costs", report::Align::kRight}});
  auto results = nlohmann::ordered_json::array();
  bool all = true;
  for (const Case& wanted : kCases) {
    if (!only.empty() && wanted.model != only) continue;
    const Ratios ratios = measure(wanted);
    all = all && ratios.one_worker >= 0.99 && ratios.of_predicted >= 0.95 &&
          ratios.stashing <= 0.02 && (!wanted.faster_than_one || ratios.of_one_worker >= 1.8);
    table.add_row({wanted.title, three_decimals(ratios.one_worker),
                   three_decimals(ratios.of_predicted), three_decimals(ratios.of_one_worker),
                   three_decimals(ratios.two_loops), report::percent(ratios.stashing)});
    results.push_back({{"model", wanted.title},
                       {"one_worker_over_bare_loop", ratios.one_worker},
                       {"two_workers_over_predicted", ratios.of_predicted},
                       {"two_workers_over_one", ratios.of_one_worker},
                       {"two_bare_loops_over_one", ratios.two_loops},
                       {"stashing_costs", ratios.stashing}});
  }
  if (results.empty()) {
    std::cerr << "bench runtime: wanted vgg16, gnmt8 or gpt, found '" << only << "'\n";
    return 2;
  }
  if (as_json)
    std::cout << nlohmann::ordered_json{{"within", all}, {"results", results}}.dump(2) << "\n";
  else
    std::cout << table.text() << "\nmedians of " << kRepetitions << " rounds of " << kMinibatches
              << " minibatches each; bars: 0.99, 0.95, 1.8 (vgg16, gpt), 2 %: "
              << (all ? "all" : "NOT all") << " met\n";
  return all ? 0 : 1;
}
