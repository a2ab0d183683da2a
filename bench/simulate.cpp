// How fast the simulator is, in ops of complete programs per second of one core (Google Benchmark).
// The time includes making the schedule, lowering, simulating and accounting.
#include <sys/resource.h>

#include "google_benchmark.h"
#include "systems/simulation.h"
#include "systems/unit_case.h"

namespace {

using namespace pipedream;

enum class Links { kOwn, kShared };

// A pipeline of equal stages in which a transfer takes a tenth of a forward. With `kShared`,
// servers have 4 workers and one network card. Every fourth pair of neighbouring stages uses the
// cards, in both directions.
systems::UnitCase pipeline(const std::string& system, std::vector<int> replicas, int microbatches,
                           Links links) {
  systems::UnitWishes wishes{
      .system = system, .replicas = std::move(replicas), .microbatches = microbatches};
  systems::UnitCase made = systems::unit_case(wishes);
  graph::Builder builder;
  const int stages = static_cast<int>(made.plan.stages.size());
  const Bytes value{100 * std::int64_t{microbatches}};
  for (int s = 0; s < stages; ++s) {
    (void)builder.add_layer("stage" + std::to_string(s), "", {{"out", {}, value}});
    if (s > 0) builder.add_edge(LayerId{s - 1}, 0, LayerId{s});
  }
  made.profile.graph = std::move(builder).build();
  for (profile::LayerCost& cost : made.profile.costs) cost.weights = Bytes{100};
  if (links == Links::kShared) {
    const int workers = made.cluster.workers();
    made.cluster.levels = {
        {.name = "server", .count = 4, .bandwidth = {1e9}},
        {.name = "network", .count = workers / 4, .bandwidth = {1e9}, .shared = true}};
  }
  return made;
}

void run(benchmark::State& state, const systems::UnitCase& unit, std::int64_t minibatches) {
  std::int64_t ops = 0;
  for (auto _ : state) {
    systems::SimulationWishes wishes;
    wishes.schedule_options.minibatches = minibatches;
    ops += systems::simulate_plan(unit.plan, unit.profile, unit.cluster, wishes).ops;
  }
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["ops"] = static_cast<double>(ops) / static_cast<double>(state.iterations());
  state.counters["ops_per_second"] =
      benchmark::Counter(static_cast<double>(ops), benchmark::Counter::kIsRate);
  state.counters["peak_MiB_so_far"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void straight(benchmark::State& state, Links links) {
  run(state, pipeline("pipedream", std::vector<int>(16, 1), 1, links), state.range(0));
}

void replicated(benchmark::State& state) {
  run(state, pipeline("pipedream", {15, 1}, 1, Links::kShared), state.range(0));
}

void large(benchmark::State& state) {
  run(state, pipeline("pipedream", std::vector<int>(1024, 1), 1, Links::kOwn), 4096);
}

void all_reduce(benchmark::State& state) {
  run(state, pipeline("dp-bsp", {16}, 1, Links::kShared), state.range(0));
}

constexpr auto kUnitOfTime = benchmark::kMillisecond;

}  // namespace

BENCHMARK_CAPTURE(straight, own_links, Links::kOwn)
    ->Unit(kUnitOfTime)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Arg(100'000);
BENCHMARK_CAPTURE(straight, shared_links, Links::kShared)->Unit(kUnitOfTime)->Arg(10'000);
BENCHMARK(replicated)->Unit(kUnitOfTime)->Arg(30'000);
BENCHMARK(all_reduce)->Unit(kUnitOfTime)->Arg(16'000);
BENCHMARK(large)->Unit(kUnitOfTime)->Iterations(1);

int main(int count, char** arguments) { return pipedream::bench::run_benchmarks(count, arguments); }
