#include "plan/search.h"

#include <algorithm>

#include "core/check.h"

namespace pipedream::plan {
namespace {

// The budget is counted in nodes of the exhaustive search. A prediction costs one node for every
// kWorkersPerPrice workers, and at least kSmallestPrice.
constexpr std::int64_t kPriceOfNode = 1;
constexpr std::int64_t kWorkersPerPrice = 4;
constexpr std::int64_t kSmallestPrice = 16;
constexpr std::size_t kMostStarts = 8;
constexpr std::int64_t kPolish = 300;                      // predictions that polish() may make
constexpr std::size_t kSteps[] = {1, 2, 3, 5, 8, 13, 21};  // distances by which a cut is moved

}  // namespace

Layout place(const Draft& draft, const cost::Links& links) {
  Layout layout;
  Places places(links);
  const int block = links.workers() / draft.copies;
  int next = 0;
  for (const Draft::Stage& stage : draft.stages) {
    layout.ends.push_back(stage.end);
    std::vector<WorkerId> workers;
    // workers_in_order() and Places do not know which workers the other has taken.
    PD_CHECK((stage.placement == Placement::kInOrder) ==
             (draft.stages.front().placement == Placement::kInOrder));
    PD_CHECK(draft.copies == 1 || stage.placement == Placement::kInOrder);
    if (stage.placement == Placement::kInOrder) {
      workers = workers_in_order(next, stage.replicas, draft.copies, block);
      next += stage.replicas;
    } else {
      workers = places.take(stage.replicas, stage.placement);
    }
    layout.workers.push_back(std::move(workers));
  }
  return layout;
}

Search::Search(const Predictor& predictor, const Relaxation& relaxation, Space space,
               std::int64_t budget)
    : predictor_(predictor),
      relaxation_(relaxation),
      space_(std::move(space)),
      price_(
          std::max<std::int64_t>(kSmallestPrice, predictor.links().workers() / kWorkersPerPrice)) {
  budget_ = budget * kSmallestPrice;
}

const Prediction& Search::take(Layout layout) {
  budget_ -= price_;
  last_ = predictor_.predict(layout);
  missed_ = missed_ || last_.miss.has_value();
  kept_.offer(layout, last_);
  if (!best_ || order(last_) < order(best_->prediction))
    best_ = Answer{std::move(layout), last_, last_.per_minibatch, {}};
  return last_;
}

const Prediction& Search::take(const Draft& draft) {
  const Prediction& prediction = take(place(draft, predictor_.links()));
  if (!best_draft_ || order(prediction) < best_draft_->order)
    best_draft_ = Start{order(prediction), draft};
  return prediction;
}

void Search::offer(const Draft& draft) {
  if (!is_draft(draft)) return;
  budget_ += price_;  // offers are free; take() subtracts the price again
  Start start{order(take(draft)), draft};
  const auto at =
      std::lower_bound(starts_.begin(), starts_.end(), start,
                       [](const Start& a, const Start& b) { return a.order < b.order; });
  if (at != starts_.end() && at->draft == draft) return;
  starts_.insert(at, std::move(start));
  if (starts_.size() > kMostStarts) starts_.pop_back();
}

void Search::offer(const Layout& layout) { (void)take(layout); }

// Returns whether the draft is valid for the network, the cluster and the space.
bool Search::is_draft(const Draft& draft) const {
  int used = 0;
  std::size_t from = 0;
  for (const Draft::Stage& stage : draft.stages) {
    if (stage.replicas < 1 || (space_.straight && stage.replicas * draft.copies > 1)) return false;
    if (stage.end > predictor_.cuts().last()) return false;
    if (!predictor_.cuts().precedes(from, stage.end)) return false;
    used += stage.replicas;
    from = stage.end;
  }
  return from == predictor_.cuts().last() && used <= predictor_.links().workers() / draft.copies;
}

void Search::climb() {
  const std::int64_t reserve = budget_ / 2;  // for exhaust()
  for (const Start& start : starts_) climb_from(start, reserve);
}

void Search::polish() {
  if (complete_ || !best_draft_) return;
  budget_ = kPolish * price_;
  climb_from(*best_draft_, 0);
}

void Search::climb_from(Start start, std::int64_t reserve) {
  for (bool better = true; better && budget_ > reserve;) {
    better = false;
    for (Draft& next : neighbours(start.draft)) {
      if (budget_ <= reserve) break;
      if (!is_draft(next)) continue;
      const Order found = order(take(next));
      if (found >= start.order) continue;
      start = {found, std::move(next)};
      better = true;
    }
  }
}

std::vector<Draft> Search::neighbours(const Draft& draft) const {
  std::vector<Draft> all;
  add_moved_workers(draft, all);
  add_moved_cuts(draft, all);
  add_merged(draft, all);
  add_split(draft, all);
  add_placed(draft, all);
  return all;
}

void Search::add_moved_cuts(const Draft& draft, std::vector<Draft>& into) const {
  for (std::size_t s = 0; s + 1 < draft.stages.size(); ++s)
    for (const std::size_t by : kSteps) {
      Draft later = draft;
      later.stages[s].end += by;
      into.push_back(std::move(later));
      if (draft.stages[s].end <= by) continue;
      Draft earlier = draft;
      earlier.stages[s].end -= by;
      into.push_back(std::move(earlier));
    }
}

void Search::add_moved_workers(const Draft& draft, std::vector<Draft>& into) const {
  if (space_.straight) return;
  const std::size_t count = draft.stages.size();
  for (std::size_t s = 0; s < count; ++s) {
    Draft more = draft;
    ++more.stages[s].replicas;
    into.push_back(more);
    for (std::size_t t = 0; t < count; ++t) {
      if (t == s || draft.stages[t].replicas == 1) continue;
      // A worker moves between any two stages or, if there are many, between neighbours.
      if (count > 12 && t != s + 1 && s != t + 1) continue;
      Draft moved = more;
      --moved.stages[t].replicas;
      into.push_back(std::move(moved));
    }
    if (draft.stages[s].replicas == 1) continue;
    Draft fewer = draft;
    --fewer.stages[s].replicas;
    into.push_back(std::move(fewer));
  }
}

void Search::add_merged(const Draft& draft, std::vector<Draft>& into) const {
  for (std::size_t s = 0; s + 1 < draft.stages.size(); ++s) {
    Draft merged = draft;
    if (!space_.straight) merged.stages[s + 1].replicas += merged.stages[s].replicas;
    merged.stages.erase(merged.stages.begin() + static_cast<std::ptrdiff_t>(s));
    into.push_back(std::move(merged));
  }
}

// Adds drafts in which all stages, or one of them, are placed in another way. All stages are placed
// in order or none is.
void Search::add_placed(const Draft& draft, std::vector<Draft>& into) const {
  const bool in_order = draft.stages.front().placement == Placement::kInOrder;
  for (const Placement placement : space_.placements) {
    Draft all = draft;
    for (Draft::Stage& stage : all.stages) stage.placement = placement;
    if (all != draft) into.push_back(std::move(all));
    if (in_order || placement == Placement::kInOrder) continue;
    for (std::size_t s = 0; s < draft.stages.size() && draft.stages.size() > 1; ++s) {
      if (draft.stages[s].placement == placement) continue;
      into.push_back(draft);
      into.back().stages[s].placement = placement;
    }
  }
}

// Adds drafts in which one stage becomes two: its first or its last layers get one worker, which is
// a worker of the stage or, if the stage has only one, a free worker.
void Search::add_split(const Draft& draft, std::vector<Draft>& into) const {
  std::size_t from = 0;
  for (std::size_t s = 0; s < draft.stages.size(); from = draft.stages[s].end, ++s) {
    const Draft::Stage& stage = draft.stages[s];
    const std::size_t step = std::max<std::size_t>(1, (stage.end - from) / 8);
    for (std::size_t cut = from + step; cut < stage.end; cut += step) {
      const int keep = std::max(1, stage.replicas - 1);
      for (const bool front : {true, false}) {
        Draft split = draft;
        split.stages[s].replicas = front ? keep : 1;
        split.stages.insert(split.stages.begin() + static_cast<std::ptrdiff_t>(s),
                            {cut, front ? 1 : keep, stage.placement});
        into.push_back(std::move(split));
        if (keep == 1) break;
      }
    }
  }
}

// In a straight space, plans on at most 2, 4, 8, … workers come first, each time with half of the
// remaining budget, so that good plans on few workers are found on a large cluster too.
void Search::exhaust() {
  const int workers = predictor_.links().workers();
  std::int64_t left = budget_;
  for (int most = 2; most < workers && space_.straight; most *= 2) {
    budget_ = left / 2;
    Draft draft;
    extend(draft, most, 0);
    left -= left / 2 - std::max<std::int64_t>(0, budget_);
  }
  budget_ = left;
  for (const int copies : space_.copies) {
    Draft draft{copies, {}};
    extend(draft, workers / copies, 0);
  }
  complete_ = !spent();
}

// Returns whether a plan that takes at least `at_least` seconds and has at least `stages` stages
// cannot be better than best_.
bool Search::hopeless(double at_least, std::size_t stages) const {
  if (!best_ || best_->prediction.miss) return false;
  const double best = best_->prediction.per_minibatch.count();
  return at_least > best || (at_least == best && stages >= best_->layout.stages());
}

// Tries all ways to complete `draft`, which ends before the last cut, with `left` more workers per
// copy. `at_least` is a lower bound on the time of its stages.
void Search::extend(Draft& draft, int left, double at_least) {
  const Cuts& cuts = predictor_.cuts();
  const std::size_t from = draft.stages.empty() ? 0 : draft.stages.back().end;
  const std::size_t stages = draft.stages.size() + 1;
  for (std::size_t end = from + 1; end < cuts.count(); ++end) {
    if (!cuts.precedes(from, end)) continue;
    const int most = space_.straight ? std::min(1, left) : left;
    for (int replicas = 1; replicas <= most; ++replicas) {
      if (spent()) return;
      budget_ -= kPriceOfNode;
      const int workers = replicas * draft.copies;
      double bound = std::max(at_least, relaxation_.stage(from, end, workers));
      const bool done = end == cuts.last();
      if (!done && left == replicas) continue;
      if (!done) bound = std::max(bound, relaxation_.rest(end, (left - replicas) * draft.copies));
      if (hopeless(bound, stages + (done ? 0 : 1))) continue;
      for (const Placement placement : space_.placements) {
        draft.stages.push_back({end, replicas, placement});
        if (done)
          (void)take(draft);
        else
          extend(draft, left - replicas, bound);
        draft.stages.pop_back();
      }
    }
  }
}

Candidates Search::candidates() const {
  PD_CHECK(best_.has_value());
  const Prediction& prediction = best_->prediction;
  if (prediction.miss) return out_of_memory(*prediction.miss);
  const Seconds time = prediction.per_minibatch;
  // Merged units exclude no better plan, unless memory is short: then the activations that a free
  // layer keeps might fit better in another stage.
  const Cuts& cuts = predictor_.cuts();
  const bool proved = complete_ && cuts.complete() && !(cuts.merged() && missed_);
  const Seconds bound = proved ? time : std::min(time, Seconds(relaxation_.bound()));
  return kept_.answers(bound);
}

}  // namespace pipedream::plan
