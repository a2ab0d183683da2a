// What a plan costs, stage by stage and transfer by transfer: all that the predicted time of a
// system depends on. Each system's time is a pure function of it, in a file of its own
// (docs/planner.md derives them):
//
//   1F1B without a flush        one_f_one_b_time.h        pipedream
//   the same, two versions      two_buffered_time.h       2bw
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

// A stage on one of its replicas.
struct StageCosts {
  // One minibatch of the profile, run item by item. `backward` includes the update and, where the
  // stage recomputes, the second forward.
  Seconds forward{0};
  Seconds backward{0};
  // One averaging of the stage's gradients over its replicas, alone on the links.
  Seconds averaging{0};
  int replicas = 1;
  int depth = 1;          // items in flight per replica, at most
  double item_share = 1;  // the part of a minibatch that one item is on one replica

  [[nodiscard]] Seconds compute() const { return forward + backward; }
  // One item, forward and backward.
  [[nodiscard]] Seconds item() const { return forward * item_share + backward * item_share; }
};

// The values of one item from one stage to another, in one direction; gradients take as long back.
struct TransferCosts {
  std::size_t from = 0;  // index into PipelineCosts::stages
  std::size_t to = 0;
  Seconds item{0};
};

// How the replicas of a stage average a number of bytes, alone on the links.
struct Averager {
  const Links* links = nullptr;
  std::span<const WorkerId> group;
  Exchange pattern = Exchange::kRing;

  [[nodiscard]] Seconds time(double bytes) const {
    return exchange_time(*links, group, bytes, pattern);
  }
};

struct PipelineCosts {
  std::vector<StageCosts> stages;        // at least one
  std::vector<TransferCosts> transfers;  // between stages on different workers
  int items = 1;                         // that a minibatch is cut into
  int workers = 1;          // different ones; fewer than stages where they have several
  Seconds busiest_link{0};  // that the traffic of one minibatch takes of it
  // Only where there is one stage: the buckets in which its gradients are averaged during the last
  // backward, and how.
  std::vector<Bucket> buckets;
  Averager averager;
};

// What a plan's speed is limited by.
enum class Limit {
  kCompute,   // one stage's compute
  kExchange,  // one stage's averaging of gradients
  kLink,      // the traffic on one link
  kLoop,      // too few items in flight to hide the transfers
  kLatency,   // a pipeline that fills and drains for every update
};

// The time from one minibatch of the profile to the next, in the long run.
struct Period {
  Seconds per_minibatch{0};
  Limit limit = Limit::kCompute;
  std::size_t stage = 0;  // the limiting stage, for kCompute, kExchange and kLoop

  // Takes `time` for `why` if it is longer than all that was seen before.
  void raise(Seconds time, Limit why, std::size_t at = 0) {
    if (time <= per_minibatch) return;
    *this = {time, why, at};
  }
};

using TimeRule = Period (*)(const PipelineCosts& costs);

// What the cost model has to know of a system.
struct SystemRules {
  Traits traits;
  TimeRule time = nullptr;
};

}  // namespace pipedream::cost
