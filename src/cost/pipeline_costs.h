// What a plan costs, stage by stage and transfer by transfer. The predicted time of every system is
// a pure function of these costs, in a file of its own (docs/planner.md#the-cost-model):
//
//   1F1B without a flush        one_f_one_b_time.h        pipedream
//   with two weight versions    two_buffered_time.h       2bw
//   fill and drain              gpipe_time.h              gpipe, torchgpipe, mp
//   1F1B with a flush           dapple_time.h             dapple
//   several stages per worker   interleaved_time.h        interleaved
//   data parallelism            bulk_synchronous_time.h   dp-bsp
//   with parameter servers      asynchronous_time.h       dp-asp
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/units.h"
#include "cost/buckets.h"
#include "cost/links.h"
#include "cost/traits.h"

namespace pipedream::cost {

// The costs of a stage on one of its replicas.
struct StageCosts {
  Seconds forward{0};  // of one minibatch of the profile, run item by item
  // Of one minibatch of the profile, run item by item. Includes its part of the update and, if the
  // stage recomputes, the second forward.
  Seconds backward{0};
  // One averaging of the stage's gradients over its replicas, if nothing else uses the links.
  Seconds averaging{0};
  int replicas = 1;
  int depth = 1;          // the most items in flight per replica
  double item_share = 1;  // the part of a minibatch that one item is on one replica

  [[nodiscard]] Seconds compute() const { return forward + backward; }
  // Returns the time of one item on one replica, forward and backward.
  [[nodiscard]] Seconds item() const { return forward * item_share + backward * item_share; }
};

// The transfer of one item's values from one stage to another.
struct TransferCosts {
  std::size_t from = 0;  // index into PipelineCosts::stages
  std::size_t to = 0;    // index into PipelineCosts::stages
  Seconds item{0};       // for the values of one item; its gradients take the same time back
};

// How the replicas of a stage average their gradients.
struct Averager {
  const Links* links = nullptr;
  std::span<const WorkerId> group;  // the replicas
  Exchange pattern = Exchange::kRing;

  // Returns the time of averaging `bytes` if nothing else uses the links.
  [[nodiscard]] Seconds time(double bytes) const {
    return exchange_time(*links, group, bytes, pattern);
  }
};

struct PipelineCosts {
  std::vector<StageCosts> stages;        // at least one
  std::vector<TransferCosts> transfers;  // between stages on different workers
  // Items that a minibatch is cut into; if replicas share items, items that the minibatches of one
  // round are cut into.
  int items = 1;
  // Rounds whose gradients make one update; a round is one minibatch for each replica, or the
  // `items` items if replicas share them.
  int accumulate = 1;
  // The workers that the stages are dealt out to. Only set for systems with several stages per
  // worker.
  int workers = 1;
  Seconds busiest_link{0};  // time that the busiest link needs per minibatch
  // The buckets in which gradients are averaged during the last backward. Only set for a plan with
  // one stage.
  std::vector<Bucket> buckets;
  Averager averager;  // of `buckets`; only set for a plan with one stage
};

// What limits the speed of a plan.
enum class Limit {
  kCompute,   // the compute of one stage
  kExchange,  // the averaging of one stage's gradients
  kLink,      // the traffic on one link
  kLoop,      // too few items in flight to hide the transfers
  kLatency,   // the pipeline fills and drains for every update
};

// The time from one minibatch of the profile to the next, in the long run.
struct Period {
  Seconds per_minibatch{0};
  Limit limit = Limit::kCompute;  // why `per_minibatch` is not shorter
  std::size_t stage = 0;          // the limiting stage, for kCompute, kExchange and kLoop

  // If `time` is longer than the period, makes it the period, limited by `why` at stage `at`.
  void raise(Seconds time, Limit why, std::size_t at = 0) {
    if (time <= per_minibatch) return;
    *this = {time, why, at};
  }
};

// The rule for the time of one system.
using TimeRule = Period (*)(const PipelineCosts& costs);

// All that the cost model needs to know of a system.
struct SystemRules {
  Traits traits;
  TimeRule time = nullptr;
};

}  // namespace pipedream::cost
