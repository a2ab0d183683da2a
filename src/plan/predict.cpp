#include "plan/predict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/check.h"
#include "cost/buckets.h"
#include "cost/interleaving.h"
#include "plan/placement.h"

namespace pipedream::plan {

using cost::has_depths;
using cost::PipelineStep;
using cost::Rule;

namespace {
constexpr int kMostDepthsTried = 16;
}  // namespace

struct Predictor::Part {
  Seconds forward;  // one minibatch in one part on the slowest replica
  Seconds backward;
  Seconds fixed_forward;
  Seconds fixed_backward;
  int replicas;
  cost::StageSize size;
  Bytes memory_limit;
  Seconds exchange;
};

struct Predictor::Sent {
  std::size_t from;
  std::size_t to;
  double latency;
  double seconds;  // for a whole minibatch, from one replica to one
  double bytes;
  double shared_seconds;  // the same where the replicas of both stages share it, else 0

  // One of `items` that a minibatch is cut into; where replicas share them, of one minibatch per
  // replica of the first stage.
  [[nodiscard]] double item(int items, double first_replicas) const {
    return latency + (shared_seconds > 0 ? shared_seconds * first_replicas : seconds) / items;
  }
};

// What does not depend on microbatches, depths and recomputation.
struct Predictor::Shape {
  const Layout* layout = nullptr;
  std::vector<Part> parts;
  std::vector<Sent> sent;
  cost::LinkLoads::Busiest busiest;
  double bytes = 0;

  [[nodiscard]] std::vector<int> replicas() const {
    std::vector<int> counts;
    for (const Part& part : parts) counts.push_back(part.replicas);
    return counts;
  }
};

struct Predictor::Choice {
  static constexpr int kMostDepth = std::numeric_limits<int>::max();
  int microbatches = 1;
  int slack = 1;
  bool shrink = false;  // stages that do not fit have fewer items in flight
  int most_depth = kMostDepth;
  Recompute recompute = Recompute::kNever;
};

Predictor::Predictor(const Cuts& cuts, const cluster::Cluster& cluster, Conditions conditions)
    : cuts_(cuts), cluster_(cluster), network_(cluster), conditions_(conditions) {}

cluster::Device Predictor::weakest(std::span<const WorkerId> group) const {
  cluster::Device weakest = cluster_.devices[group.front().index()];
  for (const WorkerId worker : group) {
    const cluster::Device& device = cluster_.devices[worker.index()];
    weakest.speed = std::min(weakest.speed, device.speed);
    weakest.memory = std::min(weakest.memory, device.memory);
  }
  if (conditions_.memory) weakest.memory = std::min(weakest.memory, *conditions_.memory);
  return weakest;
}

cluster::Device Predictor::weakest_of_all() const {
  return weakest(workers_in_order(0, network_.workers(), 1, network_.workers()));
}

Predictor::Shape Predictor::shape_of(const Layout& layout) const {
  PD_CHECK(layout.ends.size() == layout.stages() + 1 && layout.ends.back() == cuts_.last());
  Shape shape;
  shape.layout = &layout;
  const bool split = cost::replicas_split_items(conditions_.rule);
  const auto first_count = static_cast<double>(layout.workers.front().size());
  cost::LinkLoads loads(network_);
  for (std::size_t s = 0; s < layout.stages(); ++s) {
    const auto& workers = layout.workers[s];
    // Every update averages once: after a round of the replicas, or of the first stage's where
    // replicas share each item.
    const double updates = 1 / (split ? first_count : static_cast<double>(workers.size()));
    loads.add_exchange(workers, cuts_.weights(layout.ends[s], layout.ends[s + 1]),
                       conditions_.exchange, updates);
    shape.parts.push_back(part_of(layout, s));
  }
  for (const Cuts::Flow& flow : cuts_.flows(layout.ends))
    if (const auto sent = sent_by(layout, flow, loads)) shape.sent.push_back(*sent);
  shape.busiest = loads.busiest();
  shape.bytes = loads.bytes_in_all();
  return shape;
}

Predictor::Part Predictor::part_of(const Layout& layout, std::size_t stage) const {
  const std::size_t a = layout.ends[stage];
  const std::size_t b = layout.ends[stage + 1];
  const auto& workers = layout.workers[stage];
  const auto [limit, speed] = weakest(workers);
  const double averaging = workers.size() > 1 ? cuts_.averaging(a, b) : 0;
  return {Seconds(cuts_.forward(a, b) / speed),
          Seconds((cuts_.backward(a, b) + averaging) / speed),
          Seconds(cuts_.fixed_forward(a, b) / speed),
          Seconds(cuts_.fixed_backward(a, b) / speed),
          static_cast<int>(workers.size()),
          cuts_.size(a, b),
          limit,
          cost::exchange_time(network_, workers, cuts_.weights(a, b), conditions_.exchange)};
}

std::optional<Predictor::Sent> Predictor::sent_by(const Layout& layout, const Cuts::Flow& flow,
                                                  cost::LinkLoads& loads) const {
  const auto& from = layout.workers[flow.from];
  const auto& to = layout.workers[flow.to];
  const auto level = loads.add_transfer(from, to, flow.bytes);
  if (!level) return std::nullopt;
  const cluster::Level& outermost = network_.level(*level);
  Sent sent{flow.from,
            flow.to,
            to_seconds(outermost.latency),
            flow.bytes / outermost.bandwidth.bytes_per_second,
            flow.bytes,
            0};
  if (cost::replicas_split_items(conditions_.rule)) {
    cost::LinkLoads alone(network_);
    (void)alone.add_transfer(from, to, flow.bytes);
    sent.shared_seconds = alone.busiest().time.count();
  }
  return sent;
}

Rank rank(const Prediction& prediction) {
  if (prediction.miss) return {prediction.miss->bytes.count, 0};
  return {0, prediction.per_minibatch.count()};
}

std::vector<int> Predictor::microbatch_choices(std::size_t stages) const {
  if (!cost::cuts_minibatches(conditions_.rule)) return {1};
  if (conditions_.microbatches) return {*conditions_.microbatches};
  const std::int64_t batch = cuts_.profile().batch.value_or(INT32_MAX);
  const std::int64_t wanted =
      std::min(kMicrobatchesPerStage * static_cast<std::int64_t>(stages), batch);
  // Two weight versions suffice from as many microbatches as stages on.
  int least = conditions_.rule == Rule::kTwoBuffered ? static_cast<int>(stages) : 1;
  std::vector<int> choices;
  for (; choices.empty() || least <= wanted; least *= 2) choices.push_back(least);
  return choices;
}

Prediction Predictor::predict(const Layout& layout) const {
  const Shape shape = shape_of(layout);
  std::optional<Prediction> best;
  bool waits_for_loop = false;  // of this number of microbatches, something that fits
  const auto offer = [&](const Choice& choice) {  // returns whether it fits without recomputing
    Prediction found = with(shape, choice);
    waits_for_loop = waits_for_loop || (!found.miss && found.limit == Limit::kLoop);
    const bool simple =
        !found.miss && std::none_of(found.stages.begin(), found.stages.end(),
                                    [](const StagePrediction& stage) { return stage.recompute; });
    if (!best || rank(found) < rank(*best)) best = std::move(found);
    return simple;
  };
  const bool may_shrink = has_depths(conditions_.rule) && layout.depths.empty();
  const auto try_slack = [&](int microbatches, int slack) {
    const bool simple =
        offer({microbatches, slack, false, Choice::kMostDepth, conditions_.recompute});
    if (simple || !may_shrink) return;
    // Fewer items in flight may fit where all of them do not, or would need forwards run twice.
    if (conditions_.recompute != Recompute::kAlways)
      (void)offer({microbatches, slack, true, Choice::kMostDepth, Recompute::kNever});
    const int deepest = std::min(slack * (static_cast<int>(layout.stages()) - 1), kMostDepthsTried);
    for (int most = deepest; most > 0 && conditions_.recompute != Recompute::kNever; --most)
      (void)offer({microbatches, slack, false, most, conditions_.recompute});
  };
  const bool may_deepen = has_depths(conditions_.rule) && conditions_.depth == Depth::kBest &&
                          layout.depths.empty() && layout.stages() > 1;
  for (const int microbatches : microbatch_choices(layout.stages())) {
    waits_for_loop = false;
    try_slack(microbatches, 1);
    const bool may_help =
        waits_for_loop || (conditions_.rule == Rule::kDapple && !shape.sent.empty());
    if (may_deepen && may_help && !best->miss) try_slack(microbatches, 2);
  }
  return *best;
}

Prediction Predictor::with(const Shape& shape, const Choice& choice) const {
  Prediction prediction;
  prediction.microbatches = choice.microbatches;
  prediction.busiest = shape.busiest;
  prediction.bytes_per_minibatch = shape.bytes;
  fit_memory(shape, choice, prediction);
  for (const Sent& sent : shape.sent) {
    StagePrediction& stage = prediction.stages[sent.from];
    stage.sent_bytes += sent.bytes;
    stage.transfer = std::max(
        stage.transfer, Seconds(sent.item(choice.microbatches, shape.parts.front().replicas)));
  }
  switch (conditions_.rule) {
    case Rule::kPipedream:
    case Rule::kTwoBuffered:
      time_steady(shape, prediction);
      break;
    case Rule::kDataParallel:
      time_data_parallel(shape, prediction);
      break;
    case Rule::kAsynchronous:
      time_asynchronous(shape, prediction);
      break;
    case Rule::kInterleaved:
      check_workers(shape, prediction);
      time_interleaved(shape, prediction);
      break;
    case Rule::kModelParallel:
    case Rule::kGpipe:
    case Rule::kDapple:
      time_synchronous(shape, prediction);
      break;
  }
  return prediction;
}

// What the pipeline allows each stage, before memory has its say.
std::vector<int> Predictor::depths_of(const Shape& shape, const Choice& choice) const {
  if (!shape.layout->depths.empty()) return shape.layout->depths;
  if (conditions_.rule == Rule::kInterleaved) {
    std::set<WorkerId> workers;
    for (const auto& group : shape.layout->workers) workers.insert(group.front());
    const auto count = static_cast<int>(workers.size());
    return cost::Interleaving{count, static_cast<int>(shape.parts.size()) / count,
                              choice.microbatches}
        .in_flight();
  }
  std::vector<int> replicas = shape.replicas();
  if (cost::replicas_split_items(conditions_.rule)) replicas.assign(replicas.size(), 1);
  switch (conditions_.depth) {
    case Depth::kUpTo:
      return cost::depths_up_to(replicas, conditions_.most_depth);
    case Depth::kNoam:
      return cost::noam_depths(replicas);
    case Depth::kBest:
      break;
  }
  return cost::pipeline_depths(replicas, choice.slack);
}

// Only dapple has replicas that share each item; an update is then of one minibatch for each
// replica of the first stage.
cost::ItemShare Predictor::item_share(const Shape& shape, std::size_t stage,
                                      int microbatches) const {
  const bool split = cost::replicas_split_items(conditions_.rule);
  return {.minibatches = split ? shape.parts.front().replicas : 1,
          .microbatches = microbatches,
          .replicas = split ? shape.parts[stage].replicas : 1,
          .batch = cuts_.profile().batch};
}

// Depths, recomputation, memory and compute of every stage.
void Predictor::fit_memory(const Shape& shape, const Choice& choice, Prediction& prediction) const {
  prediction.stages.reserve(shape.parts.size());
  const std::vector<int> depths = depths_of(shape, choice);
  for (std::size_t s = 0; s < shape.parts.size(); ++s) {
    const Part& part = shape.parts[s];
    StagePrediction stage = fitted(shape, s, choice, std::min(depths[s], choice.most_depth));
    const Bytes over = stage.memory.total() - part.memory_limit;
    if (over > Bytes{0} && (!prediction.miss || over > prediction.miss->bytes))
      prediction.miss = MemoryMiss{id_at<StageId>(s), over};
    const double of_minibatch = item_share(shape, s, choice.microbatches).on_replica(0);
    stage.forward = cost::time_in_parts(part.forward, part.fixed_forward, of_minibatch);
    stage.backward = cost::time_in_parts(part.backward, part.fixed_backward, of_minibatch);
    if (stage.recompute) stage.backward += stage.forward;
    stage.exchange = part.exchange;
    prediction.stages.push_back(stage);
  }
}

// A stage that the pipeline allows `depth` items, in its memory, as well as the choice lets it.
StagePrediction Predictor::fitted(const Shape& shape, std::size_t s, const Choice& choice,
                                  int depth) const {
  const Part& part = shape.parts[s];
  StagePrediction stage;
  double share = 1.0 / choice.microbatches;
  if (cost::replicas_split_items(conditions_.rule))
    share *= static_cast<double>(shape.parts.front().replicas) / part.replicas;
  const auto use = [&](int items, bool recompute) {
    const cost::Counts counts =
        cost::peak_counts(conditions_.rule, items, part.replicas, choice.microbatches);
    stage.depth = counts.in_flight;
    stage.memory =
        cost::stage_memory(part.size, counts, {conditions_.optimiser_copies, share, recompute});
    return stage.memory.total() <= part.memory_limit;
  };
  stage.memory_limit = part.memory_limit;
  stage.recompute = choice.recompute == Recompute::kAlways;
  bool fits = use(depth, stage.recompute);
  if (!fits && choice.recompute == Recompute::kWhereNeeded) {
    stage.recompute = true;
    fits = use(depth, true);
  }
  if (fits || !choice.shrink) return stage;
  int low = 1;  // the most that fit, at least one
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

namespace {

void raise(Prediction& prediction, double seconds, Limit limit, std::size_t stage) {
  if (seconds <= prediction.per_minibatch.count()) return;
  prediction.per_minibatch = Seconds(seconds);
  prediction.limit = limit;
  prediction.limiting_stage = stage;
}

}  // namespace

void Predictor::time_steady(const Shape& shape, Prediction& prediction) const {
  const std::size_t count = shape.parts.size();
  const double items = prediction.microbatches;
  prediction.minibatches_per_update = shape.parts.front().replicas;
  for (std::size_t s = 0; s < count; ++s) {
    const StagePrediction& stage = prediction.stages[s];
    const double replicas = shape.parts[s].replicas;
    raise(prediction, (stage.forward + stage.backward).count() / replicas, Limit::kCompute, s);
  }
  for (std::size_t s = 0; s < count; ++s)
    raise(prediction, prediction.stages[s].exchange.count() / shape.parts[s].replicas,
          Limit::kExchange, s);
  if (conditions_.rule == Rule::kTwoBuffered)
    for (std::size_t s = 0; s < count; ++s) {
      const StagePrediction& stage = prediction.stages[s];
      const double replicas = shape.parts[s].replicas;
      // The batch after next waits for the averaging, and all items in flight but one come after
      // it.
      const double item = (stage.forward + stage.backward).count() / items;
      if (replicas > 1)
        raise(prediction, (stage.exchange.count() + (stage.depth - 1) * item) / replicas,
              Limit::kExchange, s);
    }
  raise(prediction, shape.busiest.time.count(), Limit::kLink, 0);
  time_loops(shape, prediction);
  time_inner_loops(shape, prediction);
}

// The longest way of one item from each stage to the end, and back.
void Predictor::time_loops(const Shape& shape, Prediction& prediction) const {
  const std::size_t count = shape.parts.size();
  const double items = prediction.microbatches;
  std::vector<double> forth(count), back(count);
  for (std::size_t s = count; s-- > 0;) {
    for (const Sent& sent : shape.sent) {
      if (sent.from != s) continue;
      const double transfer = sent.item(prediction.microbatches, 1);
      forth[s] = std::max(forth[s], transfer + forth[sent.to]);
      back[s] = std::max(back[s], transfer + back[sent.to]);
    }
    forth[s] += prediction.stages[s].forward.count() / items;
    back[s] += prediction.stages[s].backward.count() / items;
    const Seconds loop = cost::loop_limit(Seconds(forth[s] + back[s]), shape.parts[s].replicas,
                                          prediction.stages[s].depth);
    raise(prediction, loop.count() * items, Limit::kLoop, s);
  }
}

// An item that stage i holds comes back from stage j once j has begun d_j − 1 later ones: of what i
// has in flight, r_j·(d_j − 1) do not help to fill the way between the two.
void Predictor::time_inner_loops(const Shape& shape, Prediction& prediction) const {
  const std::size_t count = shape.parts.size();
  const double items = prediction.microbatches;
  std::vector<double> next(count);  // to the following stage
  for (const Sent& sent : shape.sent)
    if (sent.to == sent.from + 1)
      next[sent.from] = std::max(next[sent.from], sent.item(prediction.microbatches, 1));
  const auto compute = [&](std::size_t s) {
    return (prediction.stages[s].forward + prediction.stages[s].backward).count() / items;
  };
  for (std::size_t i = 0; i + 2 < count; ++i) {
    double way = compute(i);
    for (std::size_t j = i + 1; j + 1 < count; ++j) {
      way += 2 * next[j - 1] + compute(j);
      const int span = shape.parts[i].replicas * prediction.stages[i].depth -
                       shape.parts[j].replicas * (prediction.stages[j].depth - 1);
      if (span > 0) raise(prediction, way / span * items, Limit::kLoop, i);
    }
  }
}

// mp is gpipe with one item.
void Predictor::time_synchronous(const Shape& shape, Prediction& prediction) const {
  const int items = prediction.microbatches;
  const double first = shape.parts.front().replicas;
  std::vector<PipelineStep> steps;
  std::vector<Seconds> exchange;
  for (std::size_t s = 0; s < shape.parts.size(); ++s) {
    if (s > 0) {
      Seconds arriving{0};  // one after the other: they share the receiver's link
      for (const Sent& sent : shape.sent)
        if (sent.to == s) arriving += Seconds(sent.item(items, first));
      steps.push_back({arriving, arriving});
      exchange.emplace_back(0);
    }
    const double share = item_share(shape, s, items).on_replica(0);
    const StagePrediction& stage = prediction.stages[s];
    steps.push_back({stage.forward * share, stage.backward * share});
    exchange.push_back(stage.exchange);
  }
  prediction.minibatches_per_update = first;
  prediction.limit = Limit::kLatency;
  prediction.per_minibatch = conditions_.rule == Rule::kDapple
                                 ? dapple_time(shape, prediction, steps, exchange) / first
                                 : cost::gpipe_time(steps, items);
  raise(prediction, shape.busiest.time.count(), Limit::kLink, 0);
}

// `steps` has the stages and, between them, their transfers.
Seconds Predictor::dapple_time(const Shape& shape, const Prediction& prediction,
                               const std::vector<PipelineStep>& steps,
                               const std::vector<Seconds>& exchange) const {
  const int items = prediction.microbatches;
  if (shape.parts.size() == 1) {  // the last backward overlaps the averaging
    StagePrediction last = prediction.stages.front();
    last.forward = steps.front().forward;
    last.backward = steps.front().backward;
    const Seconds before = (items - 1) * (last.forward + last.backward);
    return before + step_with(shape, last, 1, item_share(shape, 0, items).on_replica(0));
  }
  Seconds way{0};
  Seconds loop{0};
  for (std::size_t k = steps.size(); k-- > 0;) {
    way += steps[k].forward + steps[k].backward;
    const int depth = prediction.stages[k / 2].depth;
    // With all items of the minibatch in flight there is no loop to wait for.
    if (k % 2 == 0 && depth < items) loop = std::max(loop, cost::loop_limit(way, 1, depth));
  }
  return cost::dapple_time(steps, exchange, items, loop);
}

Seconds Predictor::step_with(const Shape& shape, const StagePrediction& stage, double volume,
                             double share) const {
  std::vector<PipelineStep> steps{{stage.forward, Seconds(0)}};
  std::vector<Seconds> exchange{Seconds(0)};
  double done = 0;  // steps are in forward order, buckets are released from the end
  const std::vector<LayerId> layers = cuts_.layers(0, cuts_.last());
  for (const cost::Bucket& bucket : cost::buckets(cuts_.profile(), layers, share)) {
    steps.insert(steps.begin() + 1, {Seconds(0), stage.backward * (bucket.released - done)});
    const double bytes = static_cast<double>(bucket.weights.count) * volume;
    exchange.insert(
        exchange.begin() + 1,
        cost::exchange_time(network_, shape.layout->workers.front(), bytes, conditions_.exchange));
    done = bucket.released;
  }
  steps.front().backward = stage.backward * (1 - done);
  return cost::overlapped_step(steps, exchange);
}

void Predictor::time_data_parallel(const Shape& shape, Prediction& prediction) const {
  const double replicas = shape.parts.front().replicas;
  prediction.minibatches_per_update = replicas;
  const StagePrediction& stage = prediction.stages.front();
  const Seconds step = step_with(shape, stage, 1);
  const Seconds compute = stage.forward + stage.backward;
  raise(prediction, step.count() / replicas,
        compute.count() * 1.001 < step.count() ? Limit::kExchange : Limit::kCompute, 0);
}

// Pushing is half of an exchange and overlaps the backward; fetching is the other half, and nothing
// overlaps that. All workers together do not pass the busiest link faster than it allows.
void Predictor::time_asynchronous(const Shape& shape, Prediction& prediction) const {
  const double replicas = shape.parts.front().replicas;
  const StagePrediction& stage = prediction.stages.front();
  const Seconds cycle = step_with(shape, stage, 0.5) + stage.exchange / 2;
  const Seconds compute = stage.forward + stage.backward;
  raise(prediction, cycle.count() / replicas,
        compute.count() * 1.001 < cycle.count() ? Limit::kExchange : Limit::kCompute, 0);
  raise(prediction, shape.busiest.time.count(), Limit::kLink, 0);
}

// The busiest worker works through all items, or waits for them to come back (loop_limit); before
// it starts and after it ends, an item passes the first stages of the other workers, and their
// transfers. An estimate.
void Predictor::time_interleaved(const Shape& shape, Prediction& prediction) const {
  const int items = prediction.microbatches;
  std::map<WorkerId, double> busy;
  double way = 0;  // of one item through all stages, forth and back
  for (std::size_t s = 0; s < shape.parts.size(); ++s) {
    const double compute = (prediction.stages[s].forward + prediction.stages[s].backward).count();
    busy[shape.layout->workers[s].front()] += compute;
    way += compute / items;
  }
  double most = 0;
  for (const auto& [worker, seconds] : busy) most = std::max(most, seconds);
  double fill = 0;
  for (std::size_t s = 0; s + 1 < busy.size(); ++s)
    fill += (prediction.stages[s].forward + prediction.stages[s].backward).count() / items;
  for (const Sent& sent : shape.sent) {
    if (sent.to != sent.from + 1) continue;
    way += 2 * sent.item(items, 1);
    if (sent.to < busy.size()) fill += 2 * sent.item(items, 1);
  }
  const int depth = prediction.stages.front().depth;
  if (depth < items)
    most = std::max(most, items * cost::loop_limit(Seconds(way), 1, depth).count());
  prediction.limit = Limit::kLatency;
  prediction.per_minibatch = Seconds(std::max(most + fill, way));
  raise(prediction, shape.busiest.time.count(), Limit::kLink, 0);
}

// Where a worker has several stages, their memory adds up.
void Predictor::check_workers(const Shape& shape, Prediction& prediction) const {
  std::map<WorkerId, Bytes> used;
  for (std::size_t s = 0; s < shape.parts.size(); ++s) {
    Bytes& bytes = used[shape.layout->workers[s].front()];
    bytes += prediction.stages[s].memory.total();
    const Bytes over = bytes - shape.parts[s].memory_limit;
    if (over > Bytes{0} && (!prediction.miss || over > prediction.miss->bytes))
      prediction.miss = MemoryMiss{id_at<StageId>(s), over};
  }
}

Plan to_plan(const Cuts& cuts, const Layout& layout, const Prediction& prediction,
             std::string system) {
  Plan plan;
  plan.system = std::move(system);
  plan.microbatches = prediction.microbatches;
  for (std::size_t s = 0; s < layout.stages(); ++s)
    plan.stages.push_back({cuts.layers(layout.ends[s], layout.ends[s + 1]), layout.workers[s],
                           prediction.stages[s].depth, prediction.stages[s].recompute});
  sort_layers(plan, cuts.profile().graph);
  return plan;
}

}  // namespace pipedream::plan
