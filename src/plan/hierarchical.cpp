#include "plan/hierarchical.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "core/check.h"
#include "plan/smallest_larger.h"

namespace pipedream::plan {
namespace {

constexpr double kTooLong =
    std::numeric_limits<double>::max();  // not infinity: smallest_larger() wants finite numbers

constexpr double kMostWork = 3e10;  // steps, as hierarchical_work(); about half a minute

enum class Measure { kTime, kMemory };  // what is minimised, for the worst stage

// The dynamic programme. Level 0 is a single worker. Level k joins components of level k − 1 by the
// k-th level of the cluster. A value is the time or the memory of the worst stage (Measure). Tables
// have a value for each pair of cuts; kTooLong means that there is no plan.
class LevelProgramme {
 public:
  LevelProgramme(const Predictor& predictor, const HierarchicalOptions& options, Measure measure,
                 bool limit_memory)
      : cuts_(predictor.cuts()),
        options_(options),
        measure_(measure),
        limited_(limit_memory),
        traits_(predictor.traits()),
        optimiser_copies_(predictor.setting().optimiser_copies),
        weakest_(predictor.weakest_of_all()),
        n_(cuts_.count()) {
    joins_.push_back({});
    for (const cluster::Level& level : predictor.cluster().levels) {
      const Join& below = joins_.back();
      joins_.push_back({{options.cost_model, level.bandwidth.bytes_per_second, below.count},
                        level.count,
                        below.inside * below.count});
    }
  }

  // Returns the best value for the whole network and the layout that has it; nullopt if no plan
  // fits.
  std::optional<std::pair<double, Layout>> best() {
    const Key whole{joins_.size() - 1, 0, false};
    const double value = alone(whole)[at(0, cuts_.last())];
    if (value == kTooLong) return std::nullopt;
    Layout layout;
    for (const Piece& piece : pieces_of(whole, 0, cuts_.last(), 0)) {
      layout.ends.push_back(piece.to);
      layout.depths.push_back(piece.depth);
      layout.workers.push_back(piece.workers);
    }
    return std::pair(value, std::move(layout));
  }

 private:
  // One level.
  struct Join {
    cost::Recurrence recurrence;
    int count = 1;   // components that the level joins
    int inside = 1;  // workers in one of these components
  };

  // A component, as far as its values depend on its place in the plan. `downstream` and
  // `replicated` only matter for memory; if memory does not count, they are 0 and false.
  struct Key {
    std::size_t level;
    int downstream;   // workers in later stages, per replica of the component
    bool replicated;  // whether the component is one of several replicas
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // Values for the components inside one component. full[m − 1] at (a, b) is the value of the
  // layers between cuts a and b on exactly m inner components. rest[m − 1] at (b, a), transposed,
  // is the same value if a group comes before these layers: it includes the transfer over cut a.
  struct Table {
    std::vector<std::vector<double>> full;
    std::vector<std::vector<double>> rest;
  };

  // The first group of a solution: the inner components that run the first layers together.
  struct Group {
    std::size_t end = 0;                           // the cut at which its layers end
    int m = 0;                                     // its number of components
    int stages = std::numeric_limits<int>::max();  // stages of the whole solution
  };

  // A stage of the layout.
  struct Piece {
    std::size_t to;                 // the cut at which it ends
    std::vector<WorkerId> workers;  // counted from the first worker of the component
    int depth;
  };

  [[nodiscard]] std::size_t at(std::size_t row, std::size_t column) const {
    return row * n_ + column;
  }
  // Returns whether values depend on the component's place in the plan (Key).
  [[nodiscard]] bool place_matters() const { return limited_ || measure_ == Measure::kMemory; }

  // Returns the key of each component in a group of `m` inside `key`, if `behind` workers of `key`
  // are in later groups.
  [[nodiscard]] Key inside(const Key& key, int m, int behind) const {
    if (!place_matters()) return {key.level - 1, 0, false};
    return {key.level - 1, (behind + key.downstream + m - 1) / m, key.replicated || m > 1};
  }

  // Returns a table: the best value of the layers between two cuts on one component alone.
  const std::vector<double>& alone(const Key& key) {
    const auto [place, is_new] = alone_.try_emplace(key);
    std::vector<double>& values = place->second;
    if (!is_new) return values;
    if (key.level == 0) return values = one_worker(key);
    const Table& inner = table(key);
    const int all = joins_[key.level].count;
    values = inner.full.back();
    for (int m = options_.fewer_workers ? 1 : all; m < all; ++m)
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::min(values[i], inner.full[index(m)][i]);
    return values;
  }

  // Returns a table: the value of the layers between two cuts on a single worker.
  std::vector<double> one_worker(const Key& key) const {
    std::vector<double> values(n_ * n_, kTooLong);
    for (std::size_t a = 0; a < n_; ++a)
      for (std::size_t b = a + 1; b < n_; ++b)
        if (cuts_.precedes(a, b)) values[at(a, b)] = one_worker(key, a, b);
    return values;
  }

  [[nodiscard]] double one_worker(const Key& key, std::size_t a, std::size_t b) const {
    const double time = cuts_.compute(a, b) / weakest_.speed;
    if (!place_matters()) return time;
    const auto counts = cost::peak_counts(traits_, key.downstream + 1, key.replicated ? 2 : 1,
                                          {1, cuts_.accumulate()});
    const Bytes used =
        cost::stage_memory(cuts_.size(a, b), counts, {optimiser_copies_, 1, false}).total();
    if (measure_ == Measure::kMemory) return static_cast<double>(used.count);
    return used > weakest_.memory ? kTooLong : time;
  }

  // Returns the value of a group of `m` components inside `key` that run the layers between cuts a
  // and b as replicas, if one such component alone has the value `one`. `first`: nothing in `key`
  // comes before the group.
  [[nodiscard]] double group_value(const Key& key, double one, std::size_t a, std::size_t b, int m,
                                   bool first) const {
    if (measure_ == Measure::kMemory) return one;
    const cost::Recurrence& rule = joins_[key.level].recurrence;
    const double time = rule.stage(one, cuts_.weights(a, b) / cuts_.accumulate(), m, first);
    if (first) return time;
    const double after = b == cuts_.last() ? 0 : rule.cut_after(cuts_.crossing(b), m);
    return std::max(time, std::max(rule.cut_before(cuts_.crossing(a), m), after));
  }

  // Returns a table of group_value() for all cuts a and b. `behind` workers of `key` are in later
  // groups. `first`: nothing in `key` comes before the group.
  const std::vector<double>& groups(const Key& key, int m, int behind, bool first) {
    const Key one = inside(key, m, behind);
    const auto [place, is_new] = groups_.try_emplace({key.level, one, m, first});
    std::vector<double>& values = place->second;
    if (!is_new) return values;
    values.assign(n_ * n_, kTooLong);
    if (options_.straight && m > 1) return values;
    const std::vector<double>& by_itself = alone(one);
    for (std::size_t a = 0; a < n_; ++a)
      for (std::size_t b = a + 1; b < n_; ++b)
        if (by_itself[at(a, b)] != kTooLong)
          values[at(a, b)] = group_value(key, by_itself[at(a, b)], a, b, m, first);
    return values;
  }

  // Returns the values for the components inside `key`.
  const Table& table(const Key& key) {
    const auto [place, is_new] = tables_.try_emplace(key);
    Table& made = place->second;
    if (!is_new) return made;
    // Only `published` treats the first group of a component differently from the others.
    const bool same_kind = options_.cost_model != cost::CostModel::kPublished;
    for (int m = 1; m <= joins_[key.level].count; ++m) {
      made.full.push_back(best_splits(key, made, m, true));
      if (same_kind) {
        made.rest.push_back(behind_cut(key, made.full.back()));
      } else {
        made.rest.push_back(transposed(best_splits(key, made, m, false)));
      }
    }
    return made;
  }

  // Returns a table: the best value of all ways to give the first layers to a group of some of the
  // `m` components and the rest to the others:
  //   min( group(a, b; m), min over s and m′ of max( group(a, s; m′), rest(s, b; m − m′) ) )
  std::vector<double> best_splits(const Key& key, const Table& made, int m, bool first) {
    std::vector<double> values = groups(key, m, 0, first);
    const bool whole_only = key.level + 1 == joins_.size();  // only b = last() is used then
    for (int left = 1; left < m; ++left) {
      const auto& ahead = groups(key, left, (m - left) * joins_[key.level].inside, first);
      const auto& rest = made.rest[index(m - left)];
      // Takes kRows rows of `rest` at a time: they stay in the cache while `ahead` is read.
      constexpr std::size_t kRows = 8;
      for (std::size_t block = whole_only ? n_ - 1 : 2; block < n_; block += kRows)
        for (std::size_t a = 0; a + 1 < std::min(block + kRows, n_); ++a)
          for (std::size_t b = std::max(block, a + 2); b < std::min(block + kRows, n_); ++b) {
            if (!cuts_.precedes(a, b)) continue;
            values[at(a, b)] = smallest_larger(&ahead[at(a, a + 1)], &rest[at(b, a + 1)], b - a - 1,
                                               values[at(a, b)]);
          }
    }
    return values;
  }

  // Returns `full`, transposed, with each value raised to the transfer over the cut before it.
  [[nodiscard]] std::vector<double> behind_cut(const Key& key,
                                               const std::vector<double>& full) const {
    std::vector<double> rest(n_ * n_, kTooLong);
    for (std::size_t a = 0; a < n_; ++a) {
      const double cut = measure_ == Measure::kMemory
                             ? 0
                             : joins_[key.level].recurrence.cut_before(cuts_.crossing(a), 1);
      for (std::size_t b = a + 1; b < n_; ++b) rest[at(b, a)] = std::max(cut, full[at(a, b)]);
    }
    return rest;
  }

  [[nodiscard]] std::vector<double> transposed(const std::vector<double>& values) const {
    std::vector<double> rest(n_ * n_, kTooLong);
    for (std::size_t a = 0; a < n_; ++a)
      for (std::size_t b = a + 1; b < n_; ++b) rest[at(b, a)] = values[at(a, b)];
    return rest;
  }

  // Returns how many components inside `key` the best value for cuts a to b uses. Of equal values,
  // the solution with the fewest stages wins.
  int components_of(const Key& key, std::size_t a, std::size_t b) {
    const double value = alone(key)[at(a, b)];
    const Table& inner = table(key);
    const int all = joins_[key.level].count;
    int best = 0;
    int fewest = std::numeric_limits<int>::max();
    for (int m = options_.fewer_workers ? 1 : all; m <= all; ++m) {
      if (inner.full[index(m)][at(a, b)] != value) continue;
      const int stages = choose(key, a, b, m, true).stages;
      if (stages < fewest) best = m;
      fewest = std::min(fewest, stages);
    }
    PD_CHECK(best > 0);
    return best;
  }

  // Returns the first group of the best solution for cuts a to b on `m` components inside `key`. Of
  // equal solutions, the fewest stages win, then the earliest cut, then the fewest components.
  Group choose(const Key& key, std::size_t a, std::size_t b, int m, bool first) {
    const auto known = chosen_.find({key, a, b, m, first});
    if (known != chosen_.end()) return known->second;
    const Table& inner = table(key);
    const double value = first ? inner.full[index(m)][at(a, b)] : inner.rest[index(m)][at(b, a)];
    Group best;
    const auto offer = [&](std::size_t end, int left, int stages) {
      if (stages < best.stages) best = {end, left, stages};
    };
    for (std::size_t s = a + 1; s < b; ++s)
      for (int left = 1; left < m; ++left) {
        const int behind = (m - left) * joins_[key.level].inside;
        const double ahead = groups(key, left, behind, first)[at(a, s)];
        if (std::max(ahead, inner.rest[index(m - left)][at(b, s)]) != value) continue;
        const int rest = choose(key, s, b, m - left, false).stages;
        if (rest + 1 < best.stages)
          offer(s, left, rest + stages_of(inside(key, left, behind), a, s));
      }
    if (groups(key, m, 0, first)[at(a, b)] == value)
      offer(b, m, stages_of(inside(key, m, 0), a, b));
    PD_CHECK(best.m > 0);
    chosen_[{key, a, b, m, first}] = best;
    return best;
  }

  // Returns the number of stages of the best solution on one component.
  int stages_of(const Key& key, std::size_t a, std::size_t b) {
    if (key.level == 0) return 1;
    return choose(key, a, b, components_of(key, a, b), true).stages;
  }

  // Returns the stages of the best solution for cuts a to b on one component, if `downstream`
  // workers per replica are in later stages.
  std::vector<Piece> pieces_of(const Key& key, std::size_t a, std::size_t b, int downstream) {
    if (key.level == 0) return {{b, {WorkerId{0}}, downstream + 1}};
    std::vector<Piece> pieces;
    const int size = joins_[key.level].inside;
    const int m = components_of(key, a, b);
    int taken = 0;
    for (std::size_t from = a; from != b;) {
      const Group group = choose(key, from, b, m - taken, taken == 0);
      const int behind = (m - taken - group.m) * size;
      const Key one = inside(key, group.m, behind);
      const int waiting = (behind + downstream + group.m - 1) / group.m;
      for (const Piece& piece : pieces_of(one, from, group.end, waiting)) {
        // Components take turns in the list, so that a minibatch stays in one component.
        std::vector<WorkerId> workers;
        for (const WorkerId worker : piece.workers)
          for (int c = taken; c < taken + group.m; ++c)
            workers.push_back(WorkerId{c * size + worker.value});
        pieces.push_back({piece.to, std::move(workers), piece.depth});
      }
      taken += group.m;
      from = group.end;
    }
    return pieces;
  }

  [[nodiscard]] static std::size_t index(int m) { return static_cast<std::size_t>(m - 1); }

  const Cuts& cuts_;
  HierarchicalOptions options_;
  Measure measure_;
  bool limited_;
  cost::Traits traits_;
  int optimiser_copies_;
  cluster::Device weakest_;
  std::size_t n_;  // number of cuts
  std::vector<Join> joins_;
  std::map<Key, std::vector<double>> alone_;
  std::map<std::tuple<std::size_t, Key, int, bool>, std::vector<double>> groups_;
  std::map<Key, Table> tables_;
  std::map<std::tuple<Key, std::size_t, std::size_t, int, bool>, Group> chosen_;
};

}  // namespace

double hierarchical_work(const Predictor& predictor) {
  const auto cuts = static_cast<double>(predictor.cuts().count());
  double work = 0;
  for (std::size_t k = 0; k < predictor.links().levels(); ++k) {
    const double count = predictor.links().level(k).count;
    const bool top = k + 1 == predictor.links().levels();
    work += (top ? 1 : cuts / 6) * cuts * cuts * count * count / 2;
  }
  return work;
}

Outcome plan_hierarchical(const Predictor& predictor, const HierarchicalOptions& options) {
  if (hierarchical_work(predictor) > kMostWork)
    return Refusal{"the network and the cluster are too large for PipeDream's planner", {}};
  const auto as_answer = [&](std::pair<double, Layout> found) {
    Prediction prediction = predictor.predict(found.second);
    const Seconds time(found.first);
    return Answer{std::move(found.second), std::move(prediction), time,
                  predictor.cuts().complete() ? std::optional(time) : std::nullopt};
  };
  // First without memory limits, which is faster. If that plan fits, it is the answer.
  auto found = LevelProgramme(predictor, options, Measure::kTime, false).best();
  if (!found) return Refusal{"there are fewer layers than workers that must be used", {}};
  Answer fastest = as_answer(std::move(*found));
  if (!options.limit_memory || !fastest.prediction.miss) return fastest;
  found = LevelProgramme(predictor, options, Measure::kTime, true).best();
  if (found) return as_answer(std::move(*found));
  // No plan fits if every device counts as the smallest: take the plan that needs least memory.
  found = LevelProgramme(predictor, options, Measure::kMemory, false).best();
  Prediction smallest = predictor.predict(found->second);
  if (smallest.miss) return out_of_memory(*smallest.miss);
  const Seconds time = smallest.per_minibatch;  // it fits the real devices
  return Answer{std::move(found->second), std::move(smallest), time, std::nullopt};
}

Seconds data_parallel_time(const Predictor& predictor, cost::CostModel cost_model) {
  const Cuts& cuts = predictor.cuts();
  double time = cuts.compute(0, cuts.last()) / predictor.weakest_of_all().speed;
  int below = 1;
  for (const cluster::Level& level : predictor.cluster().levels) {
    const cost::Recurrence rule{cost_model, level.bandwidth.bytes_per_second, below};
    time = rule.stage(time, cuts.weights(0, cuts.last()) / cuts.accumulate(), level.count, true);
    below = level.count;
  }
  return Seconds(time);
}

}  // namespace pipedream::plan
