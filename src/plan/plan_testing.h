// Small random problems for tests of planners, and simple ways to look at every plan. Only
// *_slow_test.cpp and *_property_test.cpp files include this.
#pragma once

#include <functional>
#include <numeric>

#include <rapidcheck.h>

#include "core/property_testing.h"
#include "plan/predict.h"
#include "plan/search.h"
#include "profile/working_testing.h"

namespace pipedream::plan {

using test::any_of_range;

// The largest problems.
struct Limits {
  int layers = 7;
  int workers = 6;
};

// Returns a profile of 1 to `limits.layers` layers and one input layer. The layers are a chain, or
// each uses one or two earlier ones. Costs are small whole numbers, so that ties are common.
inline profile::Profile any_profile(const Limits& limits) {
  const int count = any_of_range(1, limits.layers + 1);
  const bool chain = any_of_range(0, 2) == 0;
  const bool knows_working = any_of_range(0, 2) == 0;
  const bool knows_fixed = any_of_range(0, 2) == 0;
  const bool knows_averaging = any_of_range(0, 2) == 0;
  graph::Builder builder;
  profile::Profile profile;
  profile.model = "any";
  profile.batch = 64;
  builder.add_input("data", {{"out", {}, Bytes{any_of_range(0, 50)}}});
  profile.costs.emplace_back();
  for (int i = 0; i < count; ++i) {
    builder.add_layer("layer" + std::to_string(i), "", {{"out", {}, Bytes{any_of_range(0, 40)}}});
    profile::LayerCost cost;
    cost.forward = Nanos(any_of_range(0, 12));
    cost.backward = Nanos(any_of_range(i == 0 ? 1 : 0, 20));
    if (knows_fixed) {
      cost.fixed_forward = Nanos(any_of_range<std::int64_t>(0, cost.forward.count() + 1));
      cost.fixed_backward = Nanos(any_of_range<std::int64_t>(0, cost.backward.count() + 1));
    }
    cost.weights = Bytes{any_of_range(0, 3) == 0 ? 0 : any_of_range(0, 60)};
    if (knows_averaging && cost.weights > Bytes{0}) cost.averaging = Nanos(any_of_range(0, 8));
    cost.stash = Bytes{any_of_range(0, 10)};
    if (knows_working) {
      cost.working = profile::any_working(Bytes{any_of_range(0, 60)});
      cost.forward_working = profile::any_working(Bytes{any_of_range(0, 90)});
    }
    profile.costs.push_back(cost);
    const auto edge = [&](int from) { builder.add_edge(LayerId{from}, 0, LayerId{i + 1}); };
    if (chain || i == 0) {
      edge(i);
      continue;
    }
    const int first = any_of_range(0, i + 1);
    const int second = any_of_range(0, i + 1);
    edge(first);
    if (second != first) edge(second);
  }
  profile.graph = std::move(builder).build();
  return profile;
}

// Returns a cluster of 1 to 3 levels. Bandwidths are 0.2 to 10 bytes per nanosecond, so that some
// links limit the speed and others do not.
inline cluster::Cluster any_cluster(const Limits& limits) {
  cluster::Cluster cluster;
  cluster.name = "any";
  int workers = 1;
  for (int k = any_of_range(1, 4); k > 0; --k) {
    const int count = any_of_range(1, limits.workers / workers + 1);
    cluster.levels.push_back({.name = "level",
                              .count = count,
                              .bandwidth = {any_of_range(1, 50) * 0.2e9},
                              .latency = Nanos(any_of_range(0, 3)),
                              .shared = any_of_range(0, 2) == 1});
    workers *= count;
  }
  cluster.devices.assign(static_cast<std::size_t>(workers), {Bytes{1 << 20}, 1});
  if (any_of_range(0, 4) == 0)
    for (cluster::Device& device : cluster.devices) device.speed = any_of_range(1, 4);
  return cluster;
}

// Returns a number of minibatches per update, often 1.
inline int any_accumulation() {
  using test::any_of_range;
  return any_of_range(0, 2) == 0 ? 1 : any_of_range(1, 5);
}

// Returns no memory limit, or a limit that some plans of these problems fit and others do not.
inline std::optional<Bytes> any_memory() {
  if (any_of_range(0, 2) == 0) return std::nullopt;
  return Bytes{any_of_range(20, 1200)};
}

// Calls `look` with Layout::ends of every way to split the network into stages.
inline void for_each_partition(const Cuts& cuts,
                               const std::function<void(const std::vector<std::size_t>&)>& look) {
  std::vector<std::size_t> ends{0};
  const std::function<void()> go_on = [&] {
    if (ends.back() == cuts.last()) return look(ends);
    const std::size_t from = ends.back();
    for (std::size_t next = from + 1; next < cuts.count(); ++next) {
      if (!cuts.precedes(from, next)) continue;
      ends.push_back(next);
      go_on();
      ends.pop_back();
    }
  };
  go_on();
}

// Calls `look` with every list of `count` numbers of at least 1 whose sum is at most `most`.
inline void for_each_counts(std::size_t count, int most,
                            const std::function<void(const std::vector<int>&)>& look) {
  std::vector<int> counts;
  const std::function<void(int)> go_on = [&](int left) {
    if (counts.size() == count) return look(counts);
    for (int n = 1; n <= left; ++n) {
      counts.push_back(n);
      go_on(left - n);
      counts.pop_back();
    }
  };
  go_on(most);
}

// Remembers the best of all layouts shown to it: the shortest time of those that fit, and the
// smallest memory miss of those that do not.
class Best {
 public:
  explicit Best(const Predictor& predictor) : predictor_(predictor) {}
  void look_at(const Layout& layout) {
    const Prediction prediction = predictor_.predict(layout);
    if (prediction.miss)
      miss_ = std::min(miss_, prediction.miss->bytes.count);
    else
      time_ = std::min(time_, prediction.per_minibatch.count());
  }
  [[nodiscard]] bool fits() const { return time_ < std::numeric_limits<double>::infinity(); }
  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] std::int64_t miss() const { return miss_; }

 private:
  const Predictor& predictor_;
  double time_ = std::numeric_limits<double>::infinity();
  std::int64_t miss_ = std::numeric_limits<std::int64_t>::max();
};

inline bool close(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

// Expects that a planner which claims to be exact on small problems found the time, or the miss, of
// `best`.
inline void expect_best(const Outcome& outcome, const Best& best) {
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    RC_LOG() << refusal->why << "\n";
    RC_ASSERT(!best.fits());
    RC_ASSERT(refusal->nearest.has_value());
    RC_ASSERT(refusal->nearest->bytes.count == best.miss());
    return;
  }
  const auto& answer = std::get<Answer>(outcome);
  RC_LOG() << "found " << answer.objective.count() << ", bound " << answer.bound->count()
           << ", best " << best.time() << "\n";
  RC_ASSERT(best.fits());
  RC_ASSERT(!answer.prediction.miss);
  RC_ASSERT(close(answer.objective.count(), best.time()));
  RC_ASSERT(answer.bound->count() <= best.time() * (1 + 1e-9));
}

}  // namespace pipedream::plan
