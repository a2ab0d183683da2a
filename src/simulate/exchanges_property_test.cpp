// On random clusters, communication that is alone on the links takes the time that the cost model
// says, and moves the bytes that it says.
#include <cmath>
#include <map>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"
#include "cost/buckets.h"
#include "plan/predict.h"
#include "schedule/asynchronous.h"
#include "schedule/bulk_synchronous.h"
#include "schedule/model_parallel.h"
#include "simulate/simulate_testing.h"

namespace pipedream::simulate {
namespace {

using schedule::Reduce;
using schedule::Send;
using schedule::Update;
using schedule::whole_minibatches;
using test::any_of_range;

// Returns a random cluster of one to three levels and about twelve workers at most, with links of
// 1 MB/s to 1 GB/s.
cluster::Cluster any_slow_cluster(int least_workers) {
  cluster::Cluster cluster;
  int workers = 1;
  for (int k = any_of_range(1, 4); k > 0; --k) {
    const int least = k == 1 ? (least_workers + workers - 1) / workers : 1;
    const int count = any_of_range(least, std::max(least, std::min(4, 12 / workers)) + 1);
    workers *= count;
    cluster.levels.push_back({.name = "level",
                              .count = count,
                              .bandwidth = {any_of_range(1, 1000) * 1e6},
                              .latency = Nanos(any_of_range(0, 3) * any_of_range(0, 1000)),
                              .shared = any_of_range(0, 2) == 1});
  }
  cluster.devices.resize(static_cast<std::size_t>(workers));
  return cluster;
}

// Returns at least `least` workers of the cluster, in random order.
std::vector<WorkerId> any_workers(const cluster::Cluster& cluster, int least) {
  std::vector<WorkerId> all;
  for (int worker = 0; worker < cluster.workers(); ++worker) all.push_back(WorkerId{worker});
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[test::any_index(i)]);
  all.resize(static_cast<std::size_t>(any_of_range(least, cluster.workers() + 1)));
  return all;
}

cost::Exchange any_exchange() { return static_cast<cost::Exchange>(any_of_range(0, 3)); }

// Returns a random chain of layers after one input, all of it on one stage with random replicas.
// Its weights fill up to three buckets.
Case any_single_stage(bool with_times) {
  Case made;
  made.cluster = any_slow_cluster(2);
  plan::Stage stage{{}, any_workers(made.cluster, 2)};
  graph::Builder builder;
  builder.add_input("data", {{"out", {}, Bytes{1}}});
  made.profile.costs.emplace_back();
  const int layers = any_of_range(1, 6);
  for (int i = 1; i <= layers; ++i) {
    stage.layers.push_back(builder.add_layer("l" + std::to_string(i), "", {{"out", {}, Bytes{1}}}));
    builder.add_edge(LayerId{i - 1}, 0, LayerId{i});
    profile::LayerCost cost;
    if (with_times) {
      cost.forward = Nanos(any_of_range(0, 100'000'000));
      cost.backward = Nanos(any_of_range(i == 1 ? 1 : 0, 100'000'000));
      cost.fixed_backward = cost.backward * any_of_range(0, 4) / 3;
      cost.averaging = Nanos(any_of_range(0, 10'000'000));
    }
    if (any_of_range(0, 4) > 0) cost.weights = Bytes{any_of_range(0, 20 << 20)};
    made.profile.costs.push_back(cost);
  }
  made.profile.graph = std::move(builder).build();
  made.plan.stages.push_back(std::move(stage));
  return made;
}

std::vector<cost::Bucket> buckets_of(const Case& with) {
  return cost::buckets(with.profile, with.plan.stages[0].layers);
}

// Returns whether `time` is within `roundings` nanoseconds of `wanted`. The simulator rounds the
// time of every bucket to a nanosecond.
bool is_near(Nanos time, Seconds wanted, std::size_t roundings) {
  return std::abs(static_cast<double>(time.count()) - wanted.count() * 1e9) <=
         static_cast<double>(roundings);
}

RC_GTEST_PROP(AveragingProperty, AloneTakesTheTimeOfTheCostModelForEachBucket, ()) {
  const Case with = any_single_stage(false);  // compute takes no time
  const auto pattern = any_exchange();
  const cost::Links links(with.cluster);
  Seconds wanted{0};
  const auto buckets = buckets_of(with);
  for (const cost::Bucket& bucket : buckets)
    wanted += cost::exchange_time(links, with.plan.stages[0].workers,
                                  static_cast<double>(bucket.weights.count), pattern);
  const auto extent =
      whole_minibatches(with.plan, static_cast<std::int64_t>(with.plan.stages[0].workers.size()));
  const auto timeline =
      run(bulk_synchronous(with.plan, extent), with, {.exchange = pattern}).timeline;
  for (const timeline::Event& event : timeline.events)
    if (std::holds_alternative<Reduce>(event.op))
      RC_ASSERT(is_near(event.end - event.start, wanted, buckets.size()));
  RC_ASSERT(is_near(length(timeline), wanted, buckets.size()));
}

// The period of bulk-synchronous data parallelism is what the planner predicts, except for
// rounding.
RC_GTEST_PROP(DataParallelismProperty, TakesAsLongAsPredicted, ()) {
  Case with = any_single_stage(true);
  const auto pattern = any_exchange();
  if (any_of_range(0, 2) == 0)
    for (cluster::Device& device : with.cluster.devices) device.speed = any_of_range(1, 5) / 2.0;
  for (cluster::Device& device : with.cluster.devices) device.memory = Bytes{std::int64_t{1} << 50};
  const auto& workers = with.plan.stages[0].workers;
  const plan::Cuts cuts(with.profile);
  const plan::Predictor predictor(cuts, with.cluster,
                                  {.rules = cost::kDataParallel, .exchange = pattern});
  const plan::Prediction prediction =
      predictor.predict({.ends = {0, cuts.last()}, .workers = {workers}});
  const auto count = static_cast<std::int64_t>(workers.size());
  const auto timeline = run(bulk_synchronous(with.plan, whole_minibatches(with.plan, 4 * count)),
                            with, {.exchange = pattern})
                            .timeline;
  // The prediction is about the slowest device, so the last worker to update counts. Other workers
  // may be a little ahead if the layers whose backward comes first have no weights.
  std::map<WeightVersion, Nanos> updates;
  for (const timeline::Event& event : timeline.events)
    if (const auto* update = std::get_if<Update>(&event.op))
      updates[update->to] = std::max(updates[update->to], event.end);
  const Seconds wanted = prediction.per_minibatch * static_cast<double>(count);
  const std::size_t roundings = 2 * buckets_of(with).size() + 2;
  for (std::int64_t i = 2; i <= 4; ++i) {
    const Nanos took = updates.at({i}) - updates.at({i - 1});
    RC_LOG() << "update " << i << " took " << took.count() << ", not " << wanted.count() * 1e9;
    RC_ASSERT(is_near(took, wanted, roundings));
  }
}

RC_GTEST_PROP(TransferProperty, AloneTakesTheTimeOfTheCostModel, ()) {
  Case with;
  const Bytes bytes{any_of_range(0, 1 << 30)};
  with = chain_case(schedule::plan_of({1, 1}), {{10, 20}, {10, 20}}, bytes);
  with.cluster = any_slow_cluster(2);
  const auto workers = any_workers(with.cluster, 2);
  for (std::size_t s = 0; s < 2; ++s) with.plan.stages[s].workers = {workers[s]};
  const auto ran = run(model_parallel(with.plan, whole_minibatches(with.plan, 2)), with);
  const Nanos wanted = cost::transfer_time(with.cluster, workers[0], workers[1], bytes);
  for (const timeline::Event& event : ran.timeline.events)
    if (std::holds_alternative<Send>(event.op)) RC_ASSERT(event.end - event.start == wanted);
  RC_ASSERT(length(ran.timeline) == 2 * (2 * Nanos(30) + 2 * wanted));
  RC_ASSERT(ran.result.bytes == 2 * 2 * static_cast<double>(bytes.count));
}

// m workers send 2(m − 1)·W bytes per update, with every exchange pattern. Asynchronous workers
// send the same number of bytes in the pushes and fetches of one round.
RC_GTEST_PROP(TrafficProperty, OfDataParallelismIsTwiceTheWeightsForEachWorkerButOne, ()) {
  const Case with = any_single_stage(true);
  const auto count = static_cast<std::int64_t>(with.plan.stages[0].workers.size());
  const auto extent = whole_minibatches(with.plan, 3 * count);
  const double wanted = 3.0 * 2 * static_cast<double>(count - 1) *
                        static_cast<double>(total_weights(with.profile).count);
  const auto is_right = [&](const Result& result) {
    double out = 0;
    double in = 0;
    for (const LinkTraffic& link : result.links) {
      out += link.out;
      in += link.in;
    }
    const auto near = [&](double bytes) { return std::abs(bytes - wanted) <= 1e-9 * wanted; };
    return near(result.bytes) && near(out) && near(in);
  };
  RC_ASSERT(is_right(
      run(bulk_synchronous(with.plan, extent), with, {.exchange = any_exchange()}).result));
  RC_ASSERT(is_right(run(asynchronous(with.plan, extent), with).result));
}

// If replicas take turns, every link carries the bytes per minibatch that the planner counts.
RC_GTEST_PROP(TrafficProperty, OfReplicatedPipelinesIsThePlannersLinkByLink, ()) {
  std::vector<int> replicas;
  int workers = 0;
  for (int s = any_of_range(1, 4); s > 0; --s) {
    replicas.push_back(any_of_range(1, 4));
    workers += replicas.back();
  }
  const auto stages = replicas.size();
  Case with = chain_case(schedule::plan_of(replicas, cost::pipeline_depths(replicas, 1)),
                         std::vector<Times>(stages, {10, 20}), Bytes{any_of_range(0, 1000)},
                         Nanos(0), Bytes{any_of_range(0, 1000)});
  with.cluster = any_slow_cluster(workers);
  const auto all = any_workers(with.cluster, workers);
  std::size_t next = 0;
  std::int64_t round = 1;
  for (plan::Stage& stage : with.plan.stages) {
    for (WorkerId& worker : stage.workers) worker = all[next++];
    round = std::lcm(round, static_cast<std::int64_t>(stage.workers.size()));
  }
  const auto pattern = any_exchange();
  const cost::Links links(with.cluster);
  cost::LinkLoads loads(links);
  for (std::size_t s = 0; s < stages; ++s) {
    const auto& group = with.plan.stages[s].workers;
    loads.add_exchange(group, static_cast<double>(with.profile.costs[s].weights.count), pattern,
                       1.0 / static_cast<double>(group.size()));
    if (s == 0) continue;
    const double bytes = static_cast<double>(with.profile.graph.values()[s - 1].bytes.count);
    (void)loads.add_transfer(with.plan.stages[s - 1].workers, group, bytes);
  }
  const std::int64_t minibatches = 2 * round;
  const Result result = run(one_f_one_b(with.plan, whole_minibatches(with.plan, minibatches)), with,
                            {.exchange = pattern})
                            .result;
  const auto is_times = [&](double bytes, double per_minibatch) {
    const double wanted = per_minibatch * static_cast<double>(minibatches);
    return std::abs(bytes - wanted) <= 1e-9 * (1 + wanted);
  };
  RC_ASSERT(is_times(result.bytes, loads.bytes_in_all()));
  std::map<std::tuple<std::size_t, std::size_t, bool>, double> counted;
  for (const cost::LinkUse& use : loads.uses())
    counted[{use.level, use.link, use.outwards}] = use.bytes;
  for (const LinkTraffic& link : result.links) {
    RC_ASSERT(is_times(link.out, counted[{link.level, link.link, true}]));
    RC_ASSERT(is_times(link.in, counted[{link.level, link.link, false}]));
    counted.erase({link.level, link.link, true});
    counted.erase({link.level, link.link, false});
  }
  for (const auto& [link, bytes] : counted) RC_ASSERT(bytes == 0);
}

}  // namespace
}  // namespace pipedream::simulate
