// How fast a plan will be and what memory it needs, by the default cost model (docs/planner.md).
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

// A plan as the planners build it: stages between consecutive cuts, and their workers.
struct Layout {
  std::vector<std::size_t> ends{0};  // 0, …, the last cut: one more than there are stages
  std::vector<std::vector<WorkerId>> workers;
  // Items in flight where a planner has its own rule for them; else the prediction chooses.
  std::vector<int> depths;

  [[nodiscard]] std::size_t stages() const { return workers.size(); }
};

enum class Recompute { kNever, kAlways, kWhereNeeded };

// What holds for all plans that are compared with each other.
struct Setting {
  cost::SystemRules rules;      // of the system that the plans are for
  std::optional<Bytes> memory;  // the most a worker may use; its device's, where that is less
  int optimiser_copies = 1;     // of the weights: 0 plain SGD, 1 momentum, 2 Adam
  cost::Exchange exchange = cost::Exchange::kRing;
  Recompute recompute = Recompute::kNever;
  // Microbatches of a minibatch. If not set: the best of 1, 2, 4, … up to kMicrobatchesPerStage·S.
  std::optional<int> microbatches;
  // Items in flight. Where memory is short, stages have fewer.
  cost::Depth depth = cost::Depth::kBest;
  int most_depth = 0;  // for Depth::kUpTo: of the first stage
};

// GPipe's advice: with 4·S microbatches the bubble is small. Not every profile says what small
// batches lose, so more are taken only when asked for.
inline constexpr int kMicrobatchesPerStage = 4;

using cost::Depth;
using cost::Limit;

struct StagePrediction {
  Seconds forward{0};     // one minibatch on one replica, in parts as large as its items
  Seconds backward{0};    // update and recomputation included
  Seconds exchange{0};    // one averaging of the gradients
  Seconds transfer{0};    // one item's values to the stages that follow
  double sent_bytes = 0;  // to them, per minibatch
  cost::MemoryUse memory;
  Bytes memory_limit;
  int depth = 1;
  bool recompute = false;
};

struct MemoryMiss {
  StageId stage;
  Bytes bytes;  // by which the stage's need exceeds its limit
};

struct Prediction {
  Seconds per_minibatch{0};
  Limit limit = Limit::kCompute;
  std::size_t limiting_stage = 0;     // for kCompute, kExchange, kLoop
  cost::LinkLoads::Busiest busiest;   // link
  double bytes_per_minibatch = 0;     // over all links
  double minibatches_per_update = 1;  // of the first stage's weights
  int microbatches = 1;
  std::vector<StagePrediction> stages;
  std::optional<MemoryMiss> miss;  // the stage that exceeds its memory most; none: it fits
};

// What fits comes first, then what is faster; what does not fit is ranked by how much it lacks.
using Rank = std::pair<std::int64_t, double>;
[[nodiscard]] Rank rank(const Prediction& prediction);

// Answers for any number of layouts of one model on one cluster. Keeps references to its
// arguments; immutable, so thread-safe.
class Predictor {
 public:
  Predictor(const Cuts& cuts, const cluster::Cluster& cluster, Setting setting);

  // With the microbatches, depths and recomputation that make it fastest within the memory, of
  // those that are tried: the depths of a slack; less where a stage does not fit; one limit for all
  // stages, with recomputation where that is not enough. Where nothing fits, those that miss by
  // least. Of equals the fewest microbatches, then the least slack.
  [[nodiscard]] Prediction predict(const Layout& layout) const;

  [[nodiscard]] const Cuts& cuts() const { return cuts_; }
  [[nodiscard]] const cluster::Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const cost::Links& links() const { return links_; }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] const cost::Traits& traits() const { return setting_.rules.traits; }
  // The smallest memory that a worker of the group may use, and the lowest speed: what a stage on
  // all of them can count on. The group has at least one worker.
  [[nodiscard]] cluster::Device weakest(std::span<const WorkerId> group) const;
  [[nodiscard]] cluster::Device weakest_of_all() const;

 private:
  struct Shape;
  struct Choice;
  [[nodiscard]] Shape shape_of(const Layout& layout) const;
  [[nodiscard]] std::vector<int> microbatch_choices(std::size_t stages) const;
  [[nodiscard]] std::vector<int> depths_of(const Shape& shape, const Choice& choice) const;
  // Predicts the layout with the choices made.
  [[nodiscard]] Prediction with(const Shape& shape, const Choice& choice) const;
  [[nodiscard]] cost::ItemShare share_of(const Shape& shape, std::size_t stage,
                                         int microbatches) const;
  // Predicts stage `s` with at most `depth` items in flight. If that exceeds the worker's memory,
  // tries recomputation and smaller depths, as far as `choice` permits.
  [[nodiscard]] StagePrediction fitted(const Shape& shape, std::size_t s, const Choice& choice,
                                       int depth) const;
  // Adds depth, recomputation, memory and compute of every stage to `prediction`.
  void fit_memory(const Shape& shape, const Choice& choice, Prediction& prediction) const;
  // All that the system's time depends on.
  [[nodiscard]] cost::PipelineCosts costs_of(const Shape& shape,
                                             const Prediction& prediction) const;
  // Where a worker has several stages, their memory adds up: notes a miss where it is too much.
  void check_workers(const Shape& shape, Prediction& prediction) const;

  const Cuts& cuts_;
  const cluster::Cluster& cluster_;
  cost::Links links_;
  Setting setting_;
};

// The plan that a prediction describes.
[[nodiscard]] Plan to_plan(const Cuts& cuts, const Layout& layout, const Prediction& prediction,
                           std::string system);

}  // namespace pipedream::plan
