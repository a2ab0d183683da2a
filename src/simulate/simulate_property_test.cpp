// Properties of every simulated run: random schedules of all systems, random networks, clusters,
// speeds and jitter.
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"
#include "schedule/any_schedule_testing.h"
#include "simulate/simulate_testing.h"
#include "timeline/account.h"

namespace pipedream::simulate {
namespace {

using schedule::Backward;
using schedule::Forward;
using schedule::Item;
using schedule::Kind;
using schedule::Op;
using schedule::Recv;
using test::any_of_range;

constexpr schedule::Sizes kSizes{
    .stages = 5, .replicas = 3, .microbatches = 8, .minibatches = 12, .items = 24, .layers = 7};

// Returns a random cluster. Inner levels have at most 3 components, and the outermost level is
// large enough for all workers.
cluster::Cluster any_cluster(int workers) {
  cluster::Cluster cluster;
  int inside = 1;
  for (int k = any_of_range(1, 4); k > 0; --k) {
    const int count = k == 1 ? (workers + inside - 1) / inside : any_of_range(1, 4);
    inside *= count;
    cluster.levels.push_back({.name = "level",
                              .count = count,
                              .bandwidth = {any_of_range(1, 1000) * 1e7},
                              .latency = Nanos(any_of_range(0, 3) * any_of_range(0, 100)),
                              .shared = any_of_range(0, 2) == 1});
  }
  cluster.devices.resize(static_cast<std::size_t>(inside));
  if (any_of_range(0, 3) == 0)
    for (cluster::Device& device : cluster.devices) device.speed = any_of_range(1, 5) / 2.0;
  return cluster;
}

profile::Profile any_profile(const graph::Graph& graph) {
  profile::Profile profile;
  profile.graph = graph;
  if (any_of_range(0, 3) == 0) profile.batch = any_of_range(1, 20);
  profile.input = Nanos(any_of_range(0, 3) * any_of_range(0, 1000));
  for (const graph::Layer& layer : graph.layers()) {
    profile::LayerCost& cost = profile.costs.emplace_back();
    if (layer.is_input) continue;
    cost.forward = Nanos(any_of_range(0, 1000));
    cost.backward = Nanos(any_of_range(0, 1000));
    cost.fixed_forward = cost.forward * any_of_range(0, 4) / 3;
    cost.fixed_backward = cost.backward * any_of_range(0, 4) / 3;
    cost.weights = Bytes{any_of_range(0, 1000)};
    cost.averaging = Nanos(any_of_range(0, 3) * any_of_range(0, 100));
  }
  return profile;
}

Conditions any_conditions(int workers) {
  Conditions conditions;
  conditions.exchange = static_cast<cost::Exchange>(any_of_range(0, 3));
  if (any_of_range(0, 3) == 0)
    conditions.stragglers.push_back({WorkerId{any_of_range(0, workers)}, 0.5});
  if (any_of_range(0, 2) == 0) conditions.jitter = any_of_range(1, 10) / 10.0;
  conditions.seed = any_of_range<std::uint64_t>(0, 100);
  return conditions;
}

struct AnyRun {
  schedule::Case from;
  Case with;
  Conditions conditions;
};

AnyRun any_run() {
  AnyRun any;
  any.from = schedule::any_case(kSizes);
  const int workers = plan::worker_count(any.from.pipeline.plan);
  any.with = {any.from.pipeline.plan, any_profile(any.from.pipeline.graph), any_cluster(workers)};
  any.conditions = any_conditions(workers);
  RC_LOG() << "system " << any.from.system.name << ", plan " << plan::config_text(any.with.plan)
           << ", " << any.from.extent.minibatches << " of " << any.from.extent.microbatches << "\n";
  return any;
}

RC_GTEST_PROP(SimulateProperty, EveryWorkerRunsItsProgramInOrderOneOpAtATime, ()) {
  const AnyRun any = any_run();
  const Ran ran = run(any.from.schedule, any.with, any.conditions);
  std::map<WorkerId, std::vector<Op>> lanes;
  std::map<WorkerId, Nanos> free;
  for (const timeline::Event& event : ran.timeline.events) {
    RC_ASSERT(event.start <= event.end);
    if (!timeline::on_compute_lane(event.op)) continue;
    lanes[event.worker].push_back(event.op);
    const Nanos gap = event.start - free[event.worker];
    RC_ASSERT(gap >= Nanos(0));
    RC_ASSERT(event.transfer >= Nanos(0));
    RC_ASSERT(event.wait >= Nanos(0));
    RC_ASSERT(event.transfer + event.wait <= gap);
    free[event.worker] = event.end;
  }
  std::int64_t ops = 0;
  for (const schedule::Program& program :
       schedule::lower(any.from.schedule, any.with.plan, any.with.profile.graph)) {
    ops += static_cast<std::int64_t>(program.ops.size());
    std::vector<Op> lane;
    for (const Op& op : program.ops)
      if (timeline::on_compute_lane(op)) lane.push_back(op);
    RC_ASSERT(lanes[program.worker] == lane);
  }
  RC_ASSERT(ran.result.ops == ops);
}

// No op begins before all values that it takes have arrived.
RC_GTEST_PROP(SimulateProperty, NothingIsUsedBeforeItArrives, ()) {
  const AnyRun any = any_run();
  const auto stages = plan::stage_of_each_layer(any.with.plan, any.with.profile.graph);
  const Ran ran = run(any.from.schedule, any.with, any.conditions);
  using Key = std::tuple<WorkerId, StageId, Item, Kind>;
  std::map<Key, Nanos> arrived;
  // When the forward began; for gradients, when the recomputation or backward began.
  std::map<Key, Nanos> began;
  for (const timeline::Event& event : ran.timeline.events) {
    if (const auto* recv = std::get_if<Recv>(&event.op)) {
      const LayerId producer = any.with.profile.graph.value(recv->value).producer;
      const StageId taker = recv->kind == Kind::kActivation ? recv->user : stages[producer.index()];
      Nanos& last = arrived[{event.worker, taker, recv->item, recv->kind}];
      last = std::max(last, event.end);
    }
    const auto begins = [&](StageId stage, Item item, Kind kind) {
      began.try_emplace({event.worker, stage, item, kind}, event.start);
    };
    if (const auto* forward = std::get_if<Forward>(&event.op))
      begins(forward->stage, forward->item, Kind::kActivation);
    if (const auto* again = std::get_if<schedule::Recompute>(&event.op))
      begins(again->stage, again->item, Kind::kGradient);
    if (const auto* backward = std::get_if<Backward>(&event.op))
      begins(backward->stage, backward->item, Kind::kGradient);
  }
  for (const auto& [key, time] : arrived) RC_ASSERT(began.at(key) >= time);
}

// Averagings have no bytes here, so they use no bandwidth. A transfer whose last byte has left its
// link does not meet other transfers any more.
RC_GTEST_PROP(SimulateProperty, ATransferThatMeetsNoOtherTakesTheTimeOfTheCostModel, ()) {
  AnyRun any = any_run();
  const schedule::Rules& rules = any.from.schedule.rules;
  // Replicas that share items send values in parts, whose sizes this test does not know.
  RC_PRE(!rules.traits.asynchronous && rules.traits.replicas != schedule::Replicas::kShareItems);
  for (profile::LayerCost& cost : any.with.profile.costs) cost.weights = Bytes{0};
  struct Move {
    timeline::Event event;
    Nanos left;   // when its last byte left the link
    Nanos alone;  // the time that it takes if it meets no other
  };
  std::vector<Move> moves;
  for (const timeline::Event& event :
       run(any.from.schedule, any.with, any.conditions).timeline.events) {
    const auto* send = std::get_if<schedule::Send>(&event.op);
    if (send == nullptr) continue;
    const cluster::Level& level =
        any.with.cluster.levels[any.with.cluster.level_between(event.worker, send->peer)];
    const auto& value = any.with.profile.graph.value(send->value);
    const double bytes = static_cast<double>(value.bytes.count) / any.with.plan.microbatches;
    moves.push_back({event, event.end - level.latency,
                     level.latency + from_seconds(bytes / level.bandwidth.bytes_per_second)});
  }
  for (const Move& move : moves) {
    const bool meets = std::any_of(moves.begin(), moves.end(), [&](const Move& other) {
      return &other != &move && other.event.start <= move.left && move.event.start <= other.left;
    });
    if (!meets) RC_ASSERT(move.event.end - move.event.start == move.alone);
  }
}

RC_GTEST_PROP(SimulateProperty, TheSameArgumentsGiveTheSameTimeline, ()) {
  const AnyRun any = any_run();
  RC_ASSERT(run(any.from.schedule, any.with, any.conditions).timeline ==
            run(any.from.schedule, any.with, any.conditions).timeline);
}

// The idle time of a worker is fill_drain + imbalance + transfer + wait
// (docs/simulator.md#idle-time-has-four-causes).
RC_GTEST_PROP(AccountProperty, BusyTimeAndThePartsOfIdleTimeAddUpToTheRun, ()) {
  const AnyRun any = any_run();
  const Ran ran = run(any.from.schedule, any.with, any.conditions);
  timeline::Account account(
      {.flushes = any.from.schedule.rules.traits.flushes, .extent = any.from.extent});
  std::map<WorkerId, Nanos> busy;
  Nanos end{0};
  for (const timeline::Event& event : ran.timeline.events) {
    account.add(event);
    if (!timeline::on_compute_lane(event.op)) continue;
    busy[event.worker] += event.end - event.start;
    end = std::max(end, event.end);
  }
  const timeline::Summary summary = account.finish();
  RC_ASSERT(summary.length == end);
  RC_ASSERT(summary.workers.size() == busy.size());
  Nanos busiest{0};
  for (const auto& [worker, time] : busy) busiest = std::max(busiest, time);
  timeline::Idle sum;
  for (const timeline::WorkerAccount& worker : summary.workers) {
    RC_ASSERT(worker.busy == busy.at(worker.worker));
    RC_ASSERT(worker.busy + worker.idle.total() == end);
    for (const Nanos part : {worker.idle.fill_drain, worker.idle.imbalance, worker.idle.transfer,
                             worker.idle.wait, worker.recompute})
      RC_ASSERT(part >= Nanos(0));
    RC_ASSERT(worker.idle.imbalance == std::min(busiest - worker.busy, worker.idle.total()));
    sum += worker.idle;
  }
  RC_ASSERT(sum == summary.idle);
  RC_ASSERT(summary.busy + summary.idle.total() == end * static_cast<std::int64_t>(busy.size()));
}

// Every item in flight waits for its backward, so some backward begins while a stage has the most
// items in flight.
RC_GTEST_PROP(SimulateProperty, AtSomeMomentAStageHasMostInFlight, ()) {
  const AnyRun any = any_run();
  const Ran ran = run(any.from.schedule, any.with, any.conditions);
  for (const WorkerPeaks& worker : ran.result.peaks)
    for (std::size_t i = 0; i < worker.stages.size() && worker.stages.size() > 1; ++i) {
      int most = 0;
      for (const Moment& moment : worker.moments) most = std::max(most, moment.stages[i].in_flight);
      RC_ASSERT(most == worker.stages[i].second.in_flight);
    }
}

// What a program keeps does not depend on how long anything takes.
RC_GTEST_PROP(SimulateProperty, PeaksAreThoseOfTheProgramsAndWithinTheSchedulesBounds, ()) {
  const AnyRun any = any_run();
  const Ran ran = run(any.from.schedule, any.with, any.conditions);
  const Ran other = run(any.from.schedule, any.with, {.jitter = 0.9, .seed = 5});
  RC_ASSERT(ran.result.peaks.size() == any.from.schedule.generators.size());
  for (std::size_t p = 0; p < ran.result.peaks.size(); ++p) {
    const WorkerPeaks& worker = ran.result.peaks[p];
    RC_ASSERT(worker.worker == any.from.schedule.generators[p].worker);
    RC_ASSERT(worker.stages == other.result.peaks[p].stages);
    RC_ASSERT(worker.moments == other.result.peaks[p].moments);
    RC_ASSERT(worker.moments.empty() == (worker.stages.size() == 1));
    for (const auto& [stage, counts] : worker.stages)
      if (!any.from.schedule.rules.in_flight.empty())
        RC_ASSERT(counts.in_flight <= any.from.schedule.rules.in_flight[stage.index()]);
  }
}

// Each value crosses once, and its gradient comes back once. m replicas send 2(m − 1)·W bytes in
// every averaging. Asynchronous workers push and fetch all weights but their own shard.
RC_GTEST_PROP(TrafficProperty, IsTheSumOfAllTransfersAndAverages, ()) {
  const AnyRun any = any_run();
  const plan::Plan& plan = any.with.plan;
  const schedule::Rules& rules = any.from.schedule.rules;
  const schedule::Routes routes(plan, any.with.profile.graph, rules.traits.replicas);
  const bool together = rules.traits.replicas == schedule::Replicas::kShareItems;
  const double share = static_cast<double>(together ? routes.replicas({0}) : 1) / plan.microbatches;
  double wanted = 0;
  for (std::int64_t b = 0; b < any.from.extent.minibatches; ++b)
    for (const graph::Transfer& transfer : routes.transfers()) {
      const double bytes =
          static_cast<double>(any.with.profile.graph.value(transfer.value).bytes.count);
      if (!together && worker_of(plan, transfer.from, b) == worker_of(plan, transfer.to, b))
        continue;
      wanted += 2 * bytes * share * any.from.extent.microbatches_of(b);
    }
  for (const plan::Stage& stage : plan.stages) {
    const auto m = static_cast<std::int64_t>(stage.workers.size());
    const std::int64_t n = any.from.extent.minibatches;
    const double weights = static_cast<double>(total_weights(any.with.profile, stage.layers).count);
    const std::int64_t each = plan.accumulate * (together ? 1 : m);  // minibatches of an update
    const double updates = rules.traits.asynchronous
                               ? static_cast<double>(n) / static_cast<double>(m)
                               : static_cast<double>((n + each - 1) / each);
    wanted += 2 * static_cast<double>(m - 1) * weights * updates;
  }
  const Result result = run(any.from.schedule, any.with, any.conditions).result;
  RC_LOG() << result.bytes << " bytes, not " << wanted << "\n";
  RC_ASSERT(std::abs(result.bytes - wanted) <= 1e-9 * (1 + wanted));
}

}  // namespace
}  // namespace pipedream::simulate
