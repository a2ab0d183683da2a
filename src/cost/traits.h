// What tells one training system from another, as data. Planner, cost rules, schedules, simulator
// and runtime read these traits; none of them asks for a system's name (systems/system.h).
#pragma once

namespace pipedream::cost {

// What the replicas of a stage do with an item. An item is a microbatch, or the whole minibatch
// where minibatches are not cut.
enum class Replicas {
  kNone,        // the system has no replicated stages
  kTakeTurns,   // replica b mod r runs minibatch b, forward and backward
  kShareItems,  // every replica runs its share of the samples of every item
};

// How many items a stage has in flight: their forward has begun, their backward is not done.
enum class InFlight {
  kOne,        // the next item begins when the last one has returned
  kMinibatch,  // all items of a minibatch: all forwards come before the first backward
  kDepth,      // the stage's depth: forwards and backwards alternate (1F1B)
};

// Which weight versions a stage keeps, and which of them an item uses.
enum class WeightVersions {
  kOne,           // the newest; no item is in flight when it changes, or nobody looks back
  kStashed,       // a backward uses the version that its own forward used
  kVerticalSync,  // every stage uses the version that the first stage used for the minibatch
  kUnstashed,     // every op uses the newest; a backward may differ from its forward
  kTwo,           // the newest two; minibatch t uses version max(0, t − 1)
};

struct Traits {
  // Every worker holds every layer: a plan has one stage.
  bool one_stage = false;
  // A minibatch is cut into microbatches, whose gradients are accumulated.
  bool cuts_minibatches = false;
  // An update waits until no item is in flight: the pipeline fills and drains for every update.
  bool flushes = false;
  Replicas replicas = Replicas::kNone;
  // Workers exchange gradients and weights with parameter servers and never wait for each other.
  bool asynchronous = false;
  // A stage may keep only its inputs and run its forward again before the backward.
  bool recomputes = false;
  // A worker has several stages, dealt out in turn (plan/dealing.h).
  bool several_stages_per_worker = false;
  InFlight in_flight = InFlight::kOne;
  WeightVersions versions = WeightVersions::kOne;

  // Gradients are computed with weights that are older than those they are applied to.
  [[nodiscard]] constexpr bool is_stale() const { return !flushes || asynchronous; }
  [[nodiscard]] constexpr bool shares_items() const { return replicas == Replicas::kShareItems; }
  // The plan may choose how many items each stage has in flight. Where a worker has several
  // stages, the order in which it takes them decides that instead (cost/interleaving.h).
  [[nodiscard]] constexpr bool has_depths() const {
    return in_flight == InFlight::kDepth && !several_stages_per_worker;
  }
  friend bool operator==(const Traits&, const Traits&) = default;
};

}  // namespace pipedream::cost
