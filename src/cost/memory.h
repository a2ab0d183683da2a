// How many minibatches a stage has in flight, how many weight versions it keeps, and the memory
// that takes (SYSTEMS: 1F1B facts; bubble and memory). Closed forms: nothing is simulated here.
#pragma once

#include <span>
#include <vector>

#include "core/units.h"
#include "profile/working.h"

namespace pipedream::cost {

// How items pass the stages and which weights they use. An item is a microbatch, or the whole
// minibatch where it is not cut.
enum class Rule {
  kModelParallel,  // one minibatch at a time
  kDataParallel,   // one stage on all workers, bulk synchronous
  kAsynchronous,   // the same without waiting for each other
  kGpipe,          // all forwards, all backwards, flush
  kDapple,         // 1F1B inside the minibatch, flush at its end
  kPipedream,      // 1F1B over minibatches without flush; weight stashing
  kTwoBuffered,    // 1F1B over microbatches without flush; two weight versions
  kInterleaved,    // several stages per worker, 1F1B inside the minibatch, flush at its end
};

// A minibatch is cut into microbatches.
[[nodiscard]] constexpr bool cuts_minibatches(Rule rule) {
  return rule == Rule::kGpipe || rule == Rule::kDapple || rule == Rule::kTwoBuffered ||
         rule == Rule::kInterleaved;
}

// Forwards and backwards alternate, so that a depth limits what is in flight.
[[nodiscard]] constexpr bool has_depths(Rule rule) {
  return rule == Rule::kDapple || rule == Rule::kPipedream || rule == Rule::kTwoBuffered;
}

// Items follow each other without a flush; a stage's weights are averaged once per round.
[[nodiscard]] constexpr bool never_flushes(Rule rule) {
  return rule == Rule::kPipedream || rule == Rule::kTwoBuffered;
}

// Replicas of a dapple stage share each microbatch; those of other rules take items in turn.
[[nodiscard]] constexpr bool replicas_split_items(Rule rule) { return rule == Rule::kDapple; }

inline constexpr int kMostInFlight = 1 << 20;  // per replica: beyond any use

// Items in flight per replica of each stage, the first stage first:
//   d_S = 1, d_i = ceil(r_{i+1}·d_{i+1} / r_i) + slack.
// Slack 1 is the least that keeps all stages busy when transfers take no time; with slack 2
// (2(n−i)+1 on a straight pipeline) transfers as long as a stage's compute are hidden too.
[[nodiscard]] std::vector<int> pipeline_depths(std::span<const int> replicas, int slack);

// The deepest pipeline of this form in which no replica of the first stage has more than `most`
// items in flight; where even slack 1 has more, no stage has more than `most`.
[[nodiscard]] std::vector<int> depths_up_to(std::span<const int> replicas, int most);

// The paper's NOAM, counted from one stage on: as many items as keep `downstream` workers behind a
// stage of `replicas` busy, per replica.
[[nodiscard]] constexpr int noam(int downstream, int replicas) {
  return (downstream + replicas - 1) / replicas + 1;
}

// noam for each stage of a pipeline, the first stage first.
[[nodiscard]] std::vector<int> noam_depths(std::span<const int> replicas);

// What one worker keeps at its peak.
struct Counts {
  int versions = 1;   // of the weights
  int gradients = 1;  // buffers as large as the weights
  int in_flight = 1;  // items between forward and backward
  // The same while a backward adds to gradients that another item's has left; 0: none ever does.
  int accumulating = 0;
  // Gradients leave for other replicas, from buckets that stay: of the buffers none is ever free,
  // and a layer's gradients are there twice until they are in theirs.
  bool buckets = false;
  // In asynchronous data parallelism: the workers, each of which serves its share of the weights
  // with the optimiser's state, and has a copy of that share for each of them. 0: there are none.
  int servers = 0;
};

// The same for one of `replicas` of a stage.
[[nodiscard]] constexpr Counts with_replicas(Counts counts, int replicas, bool asynchronous) {
  counts.buckets = replicas > 1 || asynchronous;
  counts.servers = asynchronous ? replicas : 0;
  return counts;
}

// Counts::accumulating. With a flush after every update, a minibatch's first backward, which finds
// no gradients, is also the first of its items to go.
[[nodiscard]] constexpr int accumulating(int in_flight, int items, bool flushes) {
  if (items == 1) return 0;
  return flushes && in_flight == items ? items - 1 : in_flight;
}

// `depth`: what the pipeline allows this stage; `items`: how many a minibatch is cut into.
[[nodiscard]] Counts peak_counts(Rule rule, int depth, int replicas, int items);

// One layer of a stage, per minibatch.
struct LayerSize {
  Bytes weights;
  Bytes held;                          // kept from forward to backward on its account
  profile::Working working;            // allocated besides, while its backward runs
  profile::Working forward_working{};  // all that its forward allocates
  friend bool operator==(const LayerSize&, const LayerSize&) = default;
};

// What a stage is made of, per minibatch.
struct StageSize {
  Bytes weights;
  Bytes held;      // kept from forward to backward on account of its own layers
  Bytes received;  // values that come from other stages
  Bytes working;   // the inputs and outputs of its largest layer: their gradients in a backward
  // In the order of their forwards; empty where it is not known what they work with.
  std::vector<LayerSize> layers{};
  friend bool operator==(const StageSize&, const StageSize&) = default;
};

// What there is of each kind at the moment when all of it is most.
struct MemoryUse {
  Bytes weights;  // all versions, what is served of them, and the copies to answer with
  Bytes gradients;
  Bytes optimiser;
  Bytes activations;
  Bytes buffers;  // two items received ahead
  Bytes working;
  [[nodiscard]] Bytes total() const {
    return weights + gradients + optimiser + activations + buffers + working;
  }
};

struct MemoryRule {
  int optimiser_copies = 1;  // of the weights: 0 plain SGD, 1 momentum, 2 Adam
  double share = 1;          // of a minibatch that one item is on this worker
  bool recompute = false;    // keep only what was received, and run the forward again
};

// The peak on one worker of the stage. Where its layers are known, a backward is followed from the
// last to the first:
//
//     layers   a  b  c  d        c runs backward: the item holds what a, b and c kept, d's is free
//     held     ■  ■  ■  □        again; there are gradients of the weights of c and d, or, where
//     gradient □  □  ■  ■        an item adds to another's, of all, and c's twice meanwhile
//
// and so is a forward, from the first to the last: when c runs, the item holds what a and b kept;
// there are no gradients, or, where an item's may wait for another's, those of all. Else all is
// counted as if it were there at once.
[[nodiscard]] MemoryUse stage_memory(const StageSize& size, const Counts& counts,
                                     const MemoryRule& rule);

// What the stage keeps while its worker runs another of its stages.
[[nodiscard]] MemoryUse resting_memory(const StageSize& size, const Counts& counts,
                                       const MemoryRule& rule);

}  // namespace pipedream::cost
