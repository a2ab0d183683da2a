// What tells one training system from another, as data (docs/systems.md). Planners, cost rules,
// schedules, simulator and runtime read these traits; none of them asks for a system's name
// (systems/system.h).
#pragma once

namespace pipedream::cost {

// What the replicas of a stage do with an item. An item is a microbatch, or the whole minibatch if
// minibatches are not cut.
enum class Replicas {
  kNone,        // the system has no replicated stages
  kTakeTurns,   // replica b mod r runs minibatch b, forward and backward
  kShareItems,  // every replica runs its share of the samples of every item
};

// How many items a stage has in flight. An item is in flight from the beginning of its forward to
// the end of its backward.
enum class InFlight {
  kOne,        // an item begins only after the backward of the item before it
  kMinibatch,  // all items of a minibatch: all forwards come before the first backward
  kDepth,      // up to the stage's depth: forwards and backwards alternate (1F1B)
};

// Which weight versions a stage keeps, and which of them an item uses.
enum class WeightVersions {
  kOne,           // keeps the newest only, which never changes while an item is in flight
  kStashed,       // keeps the version of every item in flight; its backward uses that version
  kVerticalSync,  // every stage uses the version that the first stage used for the minibatch
  kUnstashed,     // every op uses the newest, so a backward may differ from its forward
  kTwo,           // keeps the newest two; minibatch t uses version max(0, t − 1)
};

struct Traits {
  // A plan has one stage: every worker holds every layer.
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
  // A worker has several stages; stages are dealt out to workers in turn (plan/dealing.h).
  bool several_stages_per_worker = false;
  InFlight in_flight = InFlight::kOne;
  WeightVersions versions = WeightVersions::kOne;

  // Returns whether gradients are applied to newer weights than they were computed with.
  [[nodiscard]] constexpr bool is_stale() const { return !flushes || asynchronous; }
  [[nodiscard]] constexpr bool shares_items() const { return replicas == Replicas::kShareItems; }
  // Returns whether the plan may choose how many items each stage has in flight. If a worker has
  // several stages, the order in which it runs them decides that instead (cost/interleaving.h).
  [[nodiscard]] constexpr bool has_depths() const {
    return in_flight == InFlight::kDepth && !several_stages_per_worker;
  }
  friend bool operator==(const Traits&, const Traits&) = default;
};

}  // namespace pipedream::cost
