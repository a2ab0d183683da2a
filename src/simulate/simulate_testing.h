// Small pipelines whose times can be worked out by hand. Only *_test.cpp files include this.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schedule/schedule_testing.h"
#include "simulate/simulate.h"

namespace pipedream::simulate {

// Returns a cluster of workers that are joined by one level of links. At the default bandwidth, one
// byte per nanosecond, n bytes take n nanoseconds.
[[nodiscard]] inline cluster::Cluster room(int workers, Nanos latency = Nanos(0),
                                           double bandwidth = 1e9) {
  return {"room",
          {{.name = "room", .count = workers, .bandwidth = {bandwidth}, .latency = latency}},
          std::vector<cluster::Device>(static_cast<std::size_t>(workers))};
}

// Compute times of one item, in nanoseconds.
struct Times {
  std::int64_t forward;
  std::int64_t backward;
};

// What simulate() takes besides the schedule.
struct Case {
  plan::Plan plan;
  profile::Profile profile;
  cluster::Cluster cluster;
};

// Returns a chain of layers, one per stage of `plan`, that reads no data. `times` are those of one
// item on each stage. The profile has the times of a minibatch of `plan.microbatches` items.
[[nodiscard]] inline Case chain_case(plan::Plan plan, const std::vector<Times>& times,
                                     Bytes value = Bytes{0}, Nanos latency = Nanos(0),
                                     Bytes weights = Bytes{0}) {
  Case made;
  graph::Builder builder;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const LayerId layer = builder.add_layer("l" + std::to_string(s), "", {{"out", {}, value}});
    if (s > 0) builder.add_edge(id_at<LayerId>(s - 1), 0, layer);
    plan.stages[s].layers = {layer};
    made.profile.costs.push_back({.forward = Nanos(times[s].forward) * plan.microbatches,
                                  .backward = Nanos(times[s].backward) * plan.microbatches,
                                  .weights = weights});
  }
  made.profile.graph = std::move(builder).build();
  made.cluster = room(plan::worker_count(plan), latency);
  made.plan = std::move(plan);
  return made;
}

// Returns a chain of equal stages with one worker each and the depths of 1F1B.
[[nodiscard]] inline Case equal_stages(int stages, Times times, int microbatches = 1) {
  plan::Plan plan = schedule::plan_of(std::vector<int>(static_cast<std::size_t>(stages), 1),
                                      schedule::straight_depths(stages));
  plan.microbatches = microbatches;
  return chain_case(std::move(plan), std::vector<Times>(static_cast<std::size_t>(stages), times));
}

// Returns the network and plan of a test about schedules, with equal times for all layers.
[[nodiscard]] inline Case case_of(const schedule::Pipeline& pipeline, Times times) {
  Case made{pipeline.plan, {}, room(plan::worker_count(pipeline.plan))};
  made.profile.graph = pipeline.graph;
  for (const graph::Layer& layer : pipeline.graph.layers())
    made.profile.costs.push_back(layer.is_input
                                     ? profile::LayerCost{}
                                     : profile::LayerCost{.forward = Nanos(times.forward),
                                                          .backward = Nanos(times.backward)});
  return made;
}

struct Ran {
  timeline::Timeline timeline;
  Result result;
};

[[nodiscard]] inline Ran run(const schedule::Schedule& schedule, const Case& with,
                             const Conditions& conditions = {}) {
  Ran ran;
  const auto keep = [&](const timeline::Event& event) { ran.timeline.events.push_back(event); };
  ran.result = simulate(schedule, with.plan, with.profile, with.cluster, conditions, {keep, keep});
  return ran;
}

// Returns when the last backward of each minibatch on `stage` ended, by minibatch.
[[nodiscard]] inline std::map<std::int64_t, Nanos> ends_of_backwards(
    const timeline::Timeline& timeline, StageId stage = {0}) {
  std::map<std::int64_t, Nanos> ends;
  for (const timeline::Event& event : timeline.events)
    if (const auto* backward = std::get_if<schedule::Backward>(&event.op);
        backward != nullptr && backward->stage == stage)
      ends[backward->item.minibatch] = std::max(ends[backward->item.minibatch], event.end);
  return ends;
}

}  // namespace pipedream::simulate
