// Random networks with random plans and schedules of every system. All runs end, run the ops of
// their programs, and give the bits of their rules.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "runtime_cases_testing.h"
#include "systems/every_system_testing.h"

namespace pipedream::test {
namespace {

// A random network of linear layers (some with tied weights), ReLU, sums and dropout. A layer may
// use any earlier value, but often uses the last.
model::Network any_network(std::int64_t batch) {
  using namespace model;
  constexpr std::int64_t kWidth = 4;
  NetworkBuilder net("random", batch);
  std::vector<Wire> wires{net.input("features", {batch, kWidth}, at::kFloat)};
  const auto any_wire = [&] {
    return any_of_range(0, 2) == 0 ? wires.size() - 1 : any_index(wires.size());
  };
  std::vector<Wire> weights;  // weights that later layers may use
  Block shared_linear = linear(kWidth, kWidth);
  shared_linear.shared = {0};
  const int layers = any_of_range(1, 13);
  for (int i = 0; i < layers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const std::size_t one = any_wire();
    const std::size_t other = any_wire();
    const int kind = any_of_range(0, 6);
    if (kind == 0)
      wires.push_back(net.add(name, relu(), {wires[one]}));
    else if (kind == 1)
      wires.push_back(net.add(name, dropout_block(0.2), {wires[one]}));
    else if (kind == 2 && one != other)
      wires.push_back(net.add(name, add(), {wires[one], wires[other]}));
    else if (kind == 3 && !weights.empty())
      wires.push_back(net.add(name, tied_linear(kWidth, kWidth, {}),
                              {wires[one], weights[any_index(weights.size())]}));
    else
      wires.push_back(net.add(name, shared_linear, {wires[one]}));
    if (kind > 3) weights.push_back(net.weight(wires.back()));
  }
  const Wire out = net.add("out", linear(kWidth, 3), {wires.back()});
  const Wire labels = net.input("labels", {batch}, at::kLong, 3);
  return std::move(net).build(net.add("loss", cross_entropy(), {out, labels}));
}

std::size_t any_stage(std::size_t least, std::size_t stages) {
  return any_of_range(least, std::min(stages - 1, least + any_index(3)) + 1);
}

// The weight version that a stage uses for a minibatch. It follows from the traits alone, so it
// holds for every system.
Rule rule_of(const cost::Traits& traits, const plan::Plan& plan,
             const schedule::Schedule& schedule) {
  const std::vector<int> depths = schedule.rules.in_flight;
  return [=](std::size_t s, std::int64_t t) -> std::int64_t {
    const auto r = static_cast<std::int64_t>(plan.stages[s].workers.size());
    const std::int64_t round = traits.shares_items() ? t : t / r;
    const auto updates_in = [&](std::int64_t rounds) {
      return std::max<std::int64_t>(0, rounds) / plan.accumulate;
    };
    switch (traits.versions) {
      case cost::WeightVersions::kOne:
        return updates_in(round);
      case cost::WeightVersions::kTwo:
        return updates_in(round) - 1;
      case cost::WeightVersions::kVerticalSync:
        return updates_in(t - depths[0] + 1);
      case cost::WeightVersions::kStashed:
      case cost::WeightVersions::kUnstashed:
        break;
    }
    return updates_in(r == 1 ? t - depths[s] + 1 : round - depths[s]);
  };
}

RC_GTEST_PROP(RuntimeRandomRunsProperty, AnyScheduleOfAnyNetworkGivesTheBitsOfItsRule, ()) {
  schedule::Case any = schedule::any_case(
      {.stages = 5, .replicas = 3, .microbatches = 5, .minibatches = 8, .items = 12, .layers = 2},
      systems::every_system());
  RC_PRE(!any.system.traits.asynchronous);  // its bits depend on timing
  plan::Plan& plan = any.pipeline.plan;
  const std::int64_t batch = any.extent.microbatches * any_of_range<std::int64_t>(1, 4);
  const model::Network network = any_network(batch);
  place_layers(network, plan, any_stage);
  const schedule::Schedule schedule = any.system.schedule(plan, any.extent, any.system.traits);
  const auto seed = any_of_range<std::uint64_t>(0, 1000);
  const runtime::SampleFeed feed(network, any.extent, seed, 0,
                                 any_of_range<std::int64_t>(any.extent.last, batch + 1));
  runtime::Job job = make_job(network, plan);
  job.seed = seed;
  job.patience = std::chrono::seconds(20);
  const runtime::TestRun run = runtime::run_schedule(job, schedule, any.extent, feed);

  RC_ASSERT(run.losses.size() == static_cast<std::size_t>(any.extent.minibatches));
  for (const auto& [minibatch, loss] : run.losses) RC_ASSERT(std::isfinite(loss));
  for (const auto& program : schedule::lower(schedule, plan, network.graph))
    RC_ASSERT(run.ops(program.worker) == program.ops);
  if (any.system.traits.versions == cost::WeightVersions::kUnstashed) return;
  Reference plain(network, plan, seed,
                  schedule.rules.traits.replicas == schedule::Replicas::kShareItems);
  plain.train(feed, any.extent, rule_of(any.system.traits, plan, schedule));
  RC_ASSERT(are_same(run.weights, plain.weights()));
}

}  // namespace
}  // namespace pipedream::test
