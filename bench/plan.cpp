// How fast the planners are, and how their time grows (docs/planner.md has the figures).
// `times_faster` compares with PipeDream's published optimiser in Python. That takes 31 s of CPU
// time for ResNet-50 on 4 × 4 workers and 177 s for a chain of 400 layers, measured on a comparable
// core.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "core/philox.h"
#include "google_benchmark.h"
#include "plan/general.h"
#include "plan/hierarchical.h"
#include "profile/shared_profiles_testing.h"
#include "systems/choice.h"

namespace {

using namespace pipedream;

constexpr double kPublishedResnetSeconds = 31;
constexpr double kPublishedChainSeconds = 177;

// A cluster of `count` servers with `inside` workers each. Every server has one network card.
cluster::Cluster servers(int count, int inside) {
  cluster::Cluster cluster;
  cluster.name = std::to_string(count) + " × " + std::to_string(inside);
  cluster.levels = {
      {.name = "server", .count = inside, .bandwidth = {10e9}, .latency = Nanos(10'000)},
      {.name = "network",
       .count = count,
       .bandwidth = {1.25e9},
       .latency = Nanos(30'000),
       .shared = true}};
  cluster.devices.assign(static_cast<std::size_t>(count * inside),
                         {Bytes{std::int64_t{1} << 34}, 1});
  return cluster;
}

// The same pseudo-random numbers from 0 to 1 in every run.
class Numbers {
 public:
  explicit Numbers(std::size_t count) : numbers_(count) { fill_uniform(RandomKey{1, 2}, numbers_); }
  double next() { return numbers_[at_++ % numbers_.size()]; }

 private:
  std::vector<float> numbers_;
  std::size_t at_ = 0;
};

void add_layer(graph::Builder& builder, profile::Profile& profile, Numbers& numbers) {
  builder.add_layer("layer" + std::to_string(profile.costs.size()), "",
                    {{"out", {}, Bytes{static_cast<std::int64_t>(1e5 + 1e6 * numbers.next())}}});
  profile::LayerCost cost;
  cost.forward = Nanos(static_cast<std::int64_t>(1e6 * (0.2 + numbers.next())));
  cost.backward = Nanos(static_cast<std::int64_t>(2e6 * (0.2 + numbers.next())));
  cost.weights = Bytes{static_cast<std::int64_t>(4e6 * numbers.next())};
  profile.costs.push_back(cost);
}

profile::Profile chain(std::int64_t layers) {
  graph::Builder builder;
  profile::Profile profile;
  profile.model = "chain";
  Numbers numbers(static_cast<std::size_t>(4 * layers));
  for (std::int64_t i = 0; i < layers; ++i) {
    add_layer(builder, profile, numbers);
    if (i > 0) builder.add_edge(LayerId{static_cast<int>(i - 1)}, 0, LayerId{static_cast<int>(i)});
  }
  profile.graph = std::move(builder).build();
  return profile;
}

// A network of `count` cells as in NASNet. A cell has ten branches of four layers and one layer
// that joins them. Each branch takes the output of one of the two cells before.
profile::Profile cells(int count) {
  constexpr int kBranches = 10;
  constexpr int kLength = 4;
  graph::Builder builder;
  profile::Profile profile;
  profile.model = "cells";
  Numbers numbers(4096);
  const auto add = [&](const std::vector<int>& inputs) {
    const int layer = static_cast<int>(profile.costs.size());
    add_layer(builder, profile, numbers);
    for (const int input : inputs) builder.add_edge(LayerId{input}, 0, LayerId{layer});
    return layer;
  };
  int before = add({});
  int last = add({before});
  for (int cell = 0; cell < count; ++cell) {
    std::vector<int> ends;
    for (int branch = 0; branch < kBranches; ++branch) {
      int at = branch % 2 == 0 ? last : before;
      for (int i = 0; i < kLength; ++i) at = add({at});
      ends.push_back(at);
    }
    before = last;
    last = add(ends);
  }
  profile.graph = std::move(builder).build();
  return profile;
}

void note(benchmark::State& state, const plan::Outcome& outcome) {
  const auto& answer = std::get<plan::Answer>(outcome);
  state.counters["stages"] = static_cast<double>(answer.layout.stages());
  state.counters["gap_percent"] = 100 * answer.gap().value_or(0);
}

void hierarchical(benchmark::State& state, const profile::Profile& profile,
                  cost::CostModel cost_model, double published_seconds) {
  const cluster::Cluster cluster = servers(4, 4);
  const auto began = std::chrono::steady_clock::now();
  for (auto unused : state) {
    const plan::Cuts cuts(profile);
    const plan::Predictor predictor(cuts, cluster,
                                    systems::setting_of(systems::find_system("pipedream"), {}));
    benchmark::DoNotOptimize(plan::plan_hierarchical(
        predictor, {.cost_model = cost_model, .fewer_workers = false, .limit_memory = false}));
  }
  const Seconds took = std::chrono::steady_clock::now() - began;
  if (published_seconds > 0)
    state.counters["times_faster"] =
        published_seconds * static_cast<double>(state.iterations()) / took.count();
}

void general(benchmark::State& state, const profile::Profile& profile,
             const cluster::Cluster& cluster) {
  plan::Outcome outcome;
  for (auto unused : state) {
    const plan::Cuts cuts(profile);
    const plan::Predictor predictor(cuts, cluster,
                                    systems::setting_of(systems::find_system("pipedream"), {}));
    outcome = best_of(plan::plan_general(predictor));
  }
  note(state, outcome);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  state.counters["peak_MiB"] = static_cast<double>(used.ru_maxrss) / 1024;
}

void every_system(benchmark::State& state, const profile::Profile& profile) {
  const cluster::Cluster cluster = servers(4, 4);
  for (auto unused : state) {
    const systems::Model model(profile);
    benchmark::DoNotOptimize(systems::plan_for_all(model, cluster, {}));
  }
}

std::string name_of(cost::CostModel cost_model) {
  return cost::cost_model_names()[static_cast<std::size_t>(cost_model)];
}

template <class Body>
void add(const std::string& name, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMillisecond);
}

void register_shared() {
  for (const auto& [name, batch] : profile::kSharedProfiles) {
    try {
      const profile::Profile profile = profile::read_shared_profile(name);
      add("all_systems/4x4/" + name,
          [=](benchmark::State& state) { every_system(state, profile); });
      if (name != "resnet50") continue;
      for (const cost::CostModel cost_model :
           {cost::CostModel::kDefault, cost::CostModel::kPublished})
        add("hierarchical/4x4/" + name + "/" + name_of(cost_model), [=](benchmark::State& state) {
          hierarchical(state, profile, cost_model, kPublishedResnetSeconds);
        });
    } catch (const std::exception& error) {
      std::fprintf(stderr, "skipped: %s\n", error.what());
    }
  }
}

void register_chains() {
  for (const cost::CostModel cost_model : {cost::CostModel::kDefault, cost::CostModel::kPublished})
    for (const int layers : {50, 100, 200, 400, 800})
      add("hierarchical/4x4/chain/" + name_of(cost_model) + "/" + std::to_string(layers),
          [=](benchmark::State& state) {
            hierarchical(state, chain(layers), cost_model,
                         layers == 400 ? kPublishedChainSeconds : 0);
          });
  struct Size {
    int layers, servers, inside;
  };
  for (const Size size :
       {Size{50, 4, 4}, Size{200, 4, 4}, Size{400, 4, 4}, Size{1000, 4, 4}, Size{1000, 16, 8},
        Size{1000, 64, 8}, Size{128, 64, 8}, Size{128, 250, 8}, Size{128, 1250, 8}})
    add("general/" + std::to_string(size.servers) + "x" + std::to_string(size.inside) + "/chain/" +
            std::to_string(size.layers),
        [=](benchmark::State& state) {
          general(state, chain(size.layers), servers(size.servers, size.inside));
        });
  add("general/4x4/cells/1150",
      [](benchmark::State& state) { general(state, cells(28), servers(4, 4)); });
}

}  // namespace

// usage: bench_plan [--json] and the flags of Google Benchmark
int main(int count, char** arguments) {
  register_shared();
  register_chains();
  return pipedream::bench::run_benchmarks(count, arguments);
}
