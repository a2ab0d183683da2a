// Predicts how fast a plan trains and how much memory it needs, by the default cost model
// (docs/planner.md#the-cost-model).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/cluster.h"
#include "cost/compute.h"
#include "cost/depths.h"
#include "cost/links.h"
#include "cost/memory.h"
#include "cost/pipeline_costs.h"
#include "plan/cuts.h"
#include "plan/plan.h"

namespace pipedream::plan {

// A plan as planners build it: where the network is cut, and which workers run each stage. It
// leaves microbatches, recomputation and usually depths to the prediction.
struct Layout {
  // Cuts, from 0 (before all layers) to Cuts::last() (behind all layers). Stage s has the layers
  // between the cuts `ends[s]` and `ends[s + 1]`.
  std::vector<std::size_t> ends{0};
  std::vector<std::vector<WorkerId>> workers;  // by stage: one worker per replica, at least one
  // By stage: the most items in flight per replica, if the planner has its own rule for them. Empty
  // if the prediction chooses them.
  std::vector<int> depths;

  [[nodiscard]] std::size_t stages() const { return workers.size(); }
  friend bool operator==(const Layout&, const Layout&) = default;
};

// Which stages run their forward again before the backward, instead of keeping activations.
// kWhereNeeded means the stages that exceed their memory otherwise.
enum class Recompute { kNever, kAlways, kWhereNeeded };

// What all plans that are compared with each other have in common.
struct Setting {
  cost::SystemRules rules;  // traits and time rule of the training system
  // The most memory that a worker may use. A worker whose device has less may use that. nullopt:
  // the device's memory is the only limit.
  std::optional<Bytes> memory;
  int optimiser_copies = 1;  // optimiser state per weight: 0 plain SGD, 1 momentum, 2 Adam
  cost::Exchange exchange = cost::Exchange::kRing;  // how replicas average gradients
  Recompute recompute = Recompute::kNever;
  // Microbatches per minibatch; ignored if the system does not cut minibatches. If not set, the
  // prediction takes the best of m, 2m, 4m, … up to kMicrobatchesPerStage·S and the batch size, for
  // S stages. m is S if the system keeps two weight versions, and 1 otherwise; it is always tried.
  std::optional<int> microbatches;
  // The rule for the depths of the stages. predict() may choose smaller depths to save memory.
  // Ignored if the system has no depths (Traits::has_depths) or the layout has its own.
  cost::Depth depth = cost::Depth::kBest;
  int most_depth = 0;  // only for Depth::kUpTo: limit on the first stage's depth
};

// The most microbatches per stage that a prediction tries by itself. By GPipe's advice, the bubble
// of S stages is small with 4·S microbatches. Not every profile says how much time small
// microbatches lose, so more are used only if the user asks for them.
inline constexpr int kMicrobatchesPerStage = 4;

using cost::Depth;
using cost::Limit;

// The prediction for one stage on its slowest replica.
struct StagePrediction {
  Seconds forward{0};   // of one minibatch, run item by item
  Seconds backward{0};  // of one minibatch, run item by item; with update and recomputation
  Seconds exchange{0};  // of one averaging of the stage's gradients over its replicas
  // The longest transfer of one item's values from this stage to a later one; 0 if there is none.
  Seconds transfer{0};
  double sent_bytes = 0;   // values that the stage sends to later stages, per minibatch
  cost::MemoryUse memory;  // of the stage on one worker
  Bytes memory_limit;      // the smallest of the memory limits of the stage's workers
  int depth = 1;           // the most items in flight per replica
  bool recompute = false;  // whether the stage runs its forward again before the backward
};

// The largest excess over a memory limit. Either the stage alone needs too much or, if a worker has
// several stages, the sum over its stages up to this one is too much.
struct MemoryMiss {
  StageId stage;
  Bytes bytes;  // by how much the need exceeds the limit
};

// What a layout will do, with the choices that were made for it.
struct Prediction {
  Seconds per_minibatch{0};  // time from one minibatch to the next, in the long run
  // What one drain of the pipeline costs (cost::drain_time); 0 if the system flushes for every
  // update anyway.
  Seconds drain{0};
  Limit limit = Limit::kCompute;      // why `per_minibatch` is not shorter (pipeline_costs.h)
  std::size_t limiting_stage = 0;     // index into `stages`; for kCompute, kExchange and kLoop
  cost::LinkLoads::Busiest busiest;   // the busiest link
  double bytes_per_minibatch = 0;     // sent by all workers together
  double minibatches_per_update = 1;  // minibatches in one update of the first stage's weights
  int microbatches = 1;               // per minibatch
  int accumulate = 1;                 // Plan::accumulate
  std::vector<StagePrediction> stages;
  std::optional<MemoryMiss> miss;  // the largest excess over a memory limit; nullopt: all fits
};

// How good a prediction is; smaller is better. A prediction that fits its memory has (0, seconds
// per minibatch), any other (bytes of its miss, 0). So all that fit come before all that do not.
using Rank = std::pair<std::int64_t, double>;
[[nodiscard]] Rank rank(const Prediction& prediction);

// Predicts the speed and the memory of layouts. One Predictor serves all layouts of one model on
// one cluster under one Setting.
//
// A planner decides where the network is cut and which workers run each stage: that is a Layout.
// predict() chooses what a Layout leaves open, so that training is as fast as possible within the
// memory: the number of microbatches, the depth of each stage (the most items in flight) and which
// stages recompute. An item is a microbatch, or a minibatch if the system does not cut minibatches.
// For each combination that predict() tries, it
//   1. determines depth, recomputation and memory of every stage (fit_memory),
//   2. collects the times of all stages and transfers (costs_of),
//   3. computes the time per minibatch from them by the system's rule, `setting.rules.time`.
//
// Whoever plans owns the Predictor; planners take it by reference. It keeps references to `cuts`
// and `cluster`, which must outlive it. It is immutable and pure: several threads may use it at
// once, and equal layouts get equal predictions.
class Predictor {
 public:
  // Requires a time rule, `setting.rules.time`.
  Predictor(const Cuts& cuts, const cluster::Cluster& cluster, Setting setting);

  // Returns the prediction of lowest rank() among the combinations that are tried: the fastest that
  // fits or, if none fits, the one that misses its memory limit by least. Of equals, the fewest
  // microbatches win, then the smaller slack, then the combination that is tried first.
  //
  // Tried are, for each number of microbatches (see Setting::microbatches):
  //  - the depths by the setting's rule, with slack 1, and the setting's recomputation. Slack 1
  //    keeps all stages busy if transfers take no time; slack 2 hides transfers (cost/depths.h);
  //  - if a stage then exceeds its memory or recomputes, smaller depths in two ways. Unless the
  //    setting is Recompute::kAlways, each stage that exceeds its memory gets the largest depth
  //    that fits without recomputation, or 1 if none fits. Unless it is Recompute::kNever, all S
  //    stages get a common limit on their depth, with the setting's recomputation. Every limit from
  //    min(slack·(S − 1), 16) down to 1 is tried;
  //  - with Depth::kBest, all of this again with slack 2, if a combination has fitted so far and
  //    more items in flight may help: if a combination with this number of microbatches fits and is
  //    limited by Limit::kLoop, or if the system flushes and there are transfers.
  // Depths are only changed if the system has them (Traits::has_depths) and `layout.depths` is
  // empty.
  //
  // Requires a layout of at least one stage, with `ends` that ascend from 0 to cuts().last(). For a
  // system with several stages per worker, the stages must be dealt out in turn (plan/dealing.h).
  // Only the number of `ends` and their last entry are checked (PD_CHECK).
  [[nodiscard]] Prediction predict(const Layout& layout) const;

  // Returns the numbers of microbatches that predict() tries for a layout of `stages` stages,
  // ascending (Setting::microbatches).
  [[nodiscard]] std::vector<int> microbatch_choices(std::size_t stages) const;

  [[nodiscard]] const Cuts& cuts() const { return cuts_; }
  [[nodiscard]] const cluster::Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const cost::Links& links() const { return links_; }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] const cost::Traits& traits() const { return setting_.rules.traits; }
  // Returns Plan::accumulate of all plans, which the cuts were made for (Cuts::accumulating).
  [[nodiscard]] int accumulate() const { return cuts_.accumulate(); }
  // Returns what every worker of `group` offers: the smallest memory that one of them may use, and
  // the lowest speed of one. Requires at least one worker.
  [[nodiscard]] cluster::Device weakest(std::span<const WorkerId> group) const;
  // Returns weakest() of all workers of the cluster.
  [[nodiscard]] cluster::Device weakest_of_all() const;

 private:
  struct Shape;   // a layout with all costs that no choice changes (plan/shape.h)
  struct Choice;  // one combination of microbatches, depths and recomputation that is tried
  [[nodiscard]] Shape shape_of(const Layout& layout) const;
  // Returns the most items that each stage may have in flight by the rule for depths, before memory
  // and `choice.most_depth` limit them.
  [[nodiscard]] std::vector<int> depths_of(const Shape& shape, const Choice& choice) const;
  // Returns the prediction for one combination.
  [[nodiscard]] Prediction predict_choice(const Shape& shape, const Choice& choice) const;
  // Returns how large an item of `stage` is if a minibatch is cut into `microbatches`.
  [[nodiscard]] cost::ItemShare share_of(const Shape& shape, std::size_t stage,
                                         int microbatches) const;
  // Returns depth, recomputation and memory of stage `s` with at most `depth` items in flight. If
  // that exceeds the memory limit, tries recomputation and then smaller depths, as far as `choice`
  // permits. The result may still exceed the limit.
  [[nodiscard]] StagePrediction fit_stage(const Shape& shape, std::size_t s, const Choice& choice,
                                          int depth) const;
  // Sets `prediction.stages` (depth, recomputation, memory, compute and averaging) and
  // `prediction.miss`.
  void fit_memory(const Shape& shape, const Choice& choice, Prediction& prediction) const;
  // Returns all costs that the system's time depends on. Requires the stages of `prediction`.
  [[nodiscard]] cost::PipelineCosts costs_of(const Shape& shape,
                                             const Prediction& prediction) const;
  // For systems with several stages per worker: adds up the memory of each worker's stages, and
  // sets `prediction.miss` if the sum exceeds the limit by more than what `miss` has so far.
  void note_worker_misses(const Shape& shape, Prediction& prediction) const;

  const Cuts& cuts_;
  const cluster::Cluster& cluster_;
  cost::Links links_;
  Setting setting_;
};

// Returns `layout` as a plan, with the microbatches, depths and recomputation of its `prediction`.
// `system` is the name of the training system.
[[nodiscard]] Plan to_plan(const Cuts& cuts, const Layout& layout, const Prediction& prediction,
                           std::string system);

}  // namespace pipedream::plan
