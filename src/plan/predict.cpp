#include "plan/predict.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/check.h"
#include "cost/interleaving.h"
#include "cost/one_f_one_b_time.h"
#include "plan/dealing.h"
#include "plan/placement.h"
#include "plan/shape.h"

namespace pipedream::plan {
namespace {

constexpr int kMostDepthsTried = 16;  // common limits on the depths of all stages

}  // namespace

// One combination of choices that predict() tries for a layout.
struct Predictor::Choice {
  static constexpr int kMostDepth = std::numeric_limits<int>::max();
  int microbatches = 1;
  int slack = 1;                // of the depths, for Depth::kBest (cost/depths.h)
  bool shrink = false;          // a stage that exceeds its memory gets a smaller depth
  int most_depth = kMostDepth;  // limit on the depth of every stage
  Recompute recompute = Recompute::kNever;
};

Predictor::Predictor(const Cuts& cuts, const cluster::Cluster& cluster, Setting setting)
    : cuts_(cuts), cluster_(cluster), links_(cluster), setting_(setting) {
  PD_CHECK(setting_.rules.time != nullptr);
}

cluster::Device Predictor::weakest(std::span<const WorkerId> group) const {
  cluster::Device weakest = cluster_.devices[group.front().index()];
  for (const WorkerId worker : group) {
    const cluster::Device& device = cluster_.devices[worker.index()];
    weakest.speed = std::min(weakest.speed, device.speed);
    weakest.memory = std::min(weakest.memory, device.memory);
  }
  if (setting_.memory) weakest.memory = std::min(weakest.memory, *setting_.memory);
  return weakest;
}

cluster::Device Predictor::weakest_of_all() const {
  return weakest(workers_in_order(0, links_.workers(), 1, links_.workers()));
}

Rank rank(const Prediction& prediction) {
  if (prediction.miss) return {prediction.miss->bytes.count, 0};
  return {0, prediction.per_minibatch.count()};
}

std::vector<int> Predictor::microbatch_choices(std::size_t stages) const {
  if (!traits().cuts_minibatches) return {1};
  if (setting_.microbatches) return {*setting_.microbatches};
  const std::int64_t batch = cuts_.profile().batch.value_or(INT32_MAX);
  const std::int64_t wanted =
      std::min(kMicrobatchesPerStage * static_cast<std::int64_t>(stages), batch);
  std::vector<int> choices;
  for (int tried = cost::fewest_microbatches(traits(), static_cast<int>(stages), accumulate());
       choices.empty() || tried <= wanted; tried *= 2)
    choices.push_back(tried);
  return choices;
}

Prediction Predictor::predict(const Layout& layout) const {
  const Shape shape = shape_of(layout);
  std::optional<Prediction> best;
  // Whether a choice with the current number of microbatches fits and is limited by a loop.
  bool waits_for_loop = false;
  // Returns whether the choice fits without recomputation.
  const auto offer = [&](const Choice& choice) {
    Prediction found = predict_choice(shape, choice);
    waits_for_loop = waits_for_loop || (!found.miss && found.limit == Limit::kLoop);
    const bool simple =
        !found.miss && std::none_of(found.stages.begin(), found.stages.end(),
                                    [](const StagePrediction& stage) { return stage.recompute; });
    if (!best || rank(found) < rank(*best)) best = std::move(found);
    return simple;
  };
  const bool may_shrink = traits().has_depths() && layout.depths.empty();
  const auto try_slack = [&](int microbatches, int slack) {
    const bool simple = offer({microbatches, slack, false, Choice::kMostDepth, setting_.recompute});
    if (simple || !may_shrink) return;
    // With fewer items in flight, a stage may fit, or may fit without recomputation.
    if (setting_.recompute != Recompute::kAlways)
      (void)offer({microbatches, slack, true, Choice::kMostDepth, Recompute::kNever});
    const int deepest = std::min(slack * (static_cast<int>(layout.stages()) - 1), kMostDepthsTried);
    for (int most = deepest; most > 0 && setting_.recompute != Recompute::kNever; --most)
      (void)offer({microbatches, slack, false, most, setting_.recompute});
  };
  const bool may_deepen = may_shrink && setting_.depth == Depth::kBest && layout.stages() > 1;
  for (const int microbatches : microbatch_choices(layout.stages())) {
    waits_for_loop = false;
    try_slack(microbatches, 1);
    // For a system that flushes, the limit is the latency, which does not tell about loops.
    const bool may_help = waits_for_loop || (traits().flushes && !shape.transfers.empty());
    if (may_deepen && may_help && !best->miss) try_slack(microbatches, 2);
  }
  return *best;
}

Prediction Predictor::predict_choice(const Shape& shape, const Choice& choice) const {
  Prediction prediction;
  prediction.microbatches = choice.microbatches;
  prediction.accumulate = accumulate();
  prediction.busiest = shape.busiest;
  prediction.bytes_per_minibatch = shape.bytes;
  prediction.minibatches_per_update =
      traits().asynchronous ? 1 : static_cast<double>(accumulate()) * shape.stages.front().replicas;
  fit_memory(shape, choice, prediction);
  const cost::ItemShare item = share_of(shape, 0, choice.microbatches);
  for (const TransferShape& transfer : shape.transfers) {
    StagePrediction& stage = prediction.stages[transfer.from];
    stage.sent_bytes += transfer.bytes;
    stage.transfer = std::max(stage.transfer, transfer.item(item));
  }
  if (traits().several_stages_per_worker) note_worker_misses(shape, prediction);
  const cost::PipelineCosts costs = costs_of(shape, prediction);
  const cost::Period period = setting_.rules.time(costs);
  if (traits().has_depths() && !traits().flushes)
    prediction.drain = cost::drain_time(costs, period);
  prediction.per_minibatch = period.per_minibatch;
  prediction.limit = period.limit;
  prediction.limiting_stage = period.stage;
  return prediction;
}

cost::PipelineCosts Predictor::costs_of(const Shape& shape, const Prediction& prediction) const {
  cost::PipelineCosts costs;
  costs.items = prediction.microbatches;
  costs.accumulate = accumulate();
  costs.busiest_link = shape.busiest.time;
  costs.stages.reserve(shape.stages.size());
  for (std::size_t s = 0; s < shape.stages.size(); ++s) {
    const StagePrediction& stage = prediction.stages[s];
    costs.stages.push_back({.forward = stage.forward,
                            .backward = stage.backward,
                            .averaging = stage.exchange,
                            .replicas = shape.stages[s].replicas,
                            .depth = stage.depth,
                            .item_share = share_of(shape, s, costs.items).on_replica(0)});
  }
  const cost::ItemShare item = share_of(shape, 0, costs.items);
  costs.transfers.reserve(shape.transfers.size());
  for (const TransferShape& transfer : shape.transfers)
    costs.transfers.push_back({transfer.from, transfer.to, transfer.item(item)});
  if (traits().several_stages_per_worker)
    costs.workers = dealt_out_to(shape.layout->workers).value();
  if (shape.stages.size() == 1) {
    costs.buckets = cost::buckets(cuts_.profile(), cuts_.layers(0, cuts_.last()),
                                  costs.stages.front().item_share, costs.accumulate);
    costs.averager = {&links_, shape.layout->workers.front(), setting_.exchange};
  }
  return costs;
}

std::vector<int> Predictor::depths_of(const Shape& shape, const Choice& choice) const {
  if (!shape.layout->depths.empty()) return shape.layout->depths;
  if (traits().several_stages_per_worker) {
    const int workers = dealt_out_to(shape.layout->workers).value();
    const int chunks = static_cast<int>(shape.stages.size()) / workers;
    return cost::Interleaving{workers, chunks, choice.microbatches * accumulate()}.in_flight();
  }
  return cost::chosen_depths(traits(), shape.replicas(),
                             {setting_.depth, setting_.most_depth, choice.slack});
}

cost::ItemShare Predictor::share_of(const Shape& shape, std::size_t stage, int microbatches) const {
  return cost::item_share(traits().shares_items(), shape.stages.front().replicas,
                          shape.stages[stage].replicas, microbatches, cuts_.profile().batch);
}

void Predictor::fit_memory(const Shape& shape, const Choice& choice, Prediction& prediction) const {
  prediction.stages.reserve(shape.stages.size());
  const std::vector<int> depths = depths_of(shape, choice);
  for (std::size_t s = 0; s < shape.stages.size(); ++s) {
    const StageShape& of = shape.stages[s];
    StagePrediction stage = fit_stage(shape, s, choice, std::min(depths[s], choice.most_depth));
    const Bytes over = stage.memory.total() - of.memory_limit;
    if (over > Bytes{0} && (!prediction.miss || over > prediction.miss->bytes))
      prediction.miss = MemoryMiss{id_at<StageId>(s), over};
    const double share = share_of(shape, s, choice.microbatches).on_replica(0);
    stage.forward = cost::time_in_parts(of.forward, of.fixed_forward, share);
    stage.backward = cost::time_in_parts(of.backward, of.fixed_backward, share);
    if (stage.recompute) stage.backward += stage.forward;
    stage.exchange = of.averaging;
    prediction.stages.push_back(stage);
  }
}

StagePrediction Predictor::fit_stage(const Shape& shape, std::size_t s, const Choice& choice,
                                     int depth) const {
  const StageShape& of = shape.stages[s];
  const double share = share_of(shape, s, choice.microbatches).on_replica(0);
  StagePrediction stage;
  // Sets depth and memory of the stage for a depth of `items`. Returns whether it fits.
  const auto use = [&](int items, bool recompute) {
    const cost::PeakCounts counts =
        cost::peak_counts(traits(), items, of.replicas, {choice.microbatches, accumulate()});
    stage.depth = counts.in_flight;
    stage.memory =
        cost::stage_memory(of.size, counts, {setting_.optimiser_copies, share, recompute});
    return stage.memory.total() <= of.memory_limit;
  };
  stage.memory_limit = of.memory_limit;
  stage.recompute = choice.recompute == Recompute::kAlways;
  bool fits = use(depth, stage.recompute);
  if (!fits && choice.recompute == Recompute::kWhereNeeded) {
    stage.recompute = true;
    fits = use(depth, true);
  }
  if (fits || !choice.shrink) return stage;
  int low = 1;  // bisects for the largest depth that fits; 1 if none does
  for (int high = depth - 1; low < high;) {
    const int middle = low + (high - low + 1) / 2;
    if (use(middle, stage.recompute))
      low = middle;
    else
      high = middle - 1;
  }
  (void)use(low, stage.recompute);
  return stage;
}

void Predictor::note_worker_misses(const Shape& shape, Prediction& prediction) const {
  std::map<WorkerId, Bytes> used;
  for (std::size_t s = 0; s < shape.stages.size(); ++s) {
    Bytes& bytes = used[shape.layout->workers[s].front()];
    bytes += prediction.stages[s].memory.total();
    const Bytes over = bytes - shape.stages[s].memory_limit;
    if (over > Bytes{0} && (!prediction.miss || over > prediction.miss->bytes))
      prediction.miss = MemoryMiss{id_at<StageId>(s), over};
  }
}

Plan to_plan(const Cuts& cuts, const Layout& layout, const Prediction& prediction,
             std::string system) {
  Plan plan;
  plan.system = std::move(system);
  plan.microbatches = prediction.microbatches;
  plan.accumulate = prediction.accumulate;
  for (std::size_t s = 0; s < layout.stages(); ++s)
    plan.stages.push_back({cuts.layers(layout.ends[s], layout.ends[s + 1]), layout.workers[s],
                           prediction.stages[s].depth, prediction.stages[s].recompute});
  sort_layers(plan, cuts.profile().graph);
  return plan;
}

}  // namespace pipedream::plan
