#include "plan/cuts.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "plan/stage_size.h"
#include "plan/units.h"

namespace pipedream::plan {
namespace {

using Units = std::vector<std::vector<LayerId>>;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);  // no unit
// Returns the index of each layer's unit, by LayerId; kNone for input layers.
std::vector<std::size_t> unit_of_each(const graph::Graph& graph, const Units& units) {
  std::vector<std::size_t> unit(graph.layers().size(), kNone);
  for (std::size_t u = 0; u < units.size(); ++u)
    for (const LayerId layer : units[u]) unit[layer.index()] = u;
  return unit;
}

// Takes the units in some order and counts the bytes that cross the cut behind the last unit taken.
class CrossingBytes {
 public:
  CrossingBytes(const graph::Graph& graph, const Units& units)
      : graph_(graph), units_(units), unit_(unit_of_each(graph, units)) {
    for (const graph::Value& value : graph.values()) users_left_.push_back(value.consumers.size());
  }

  // Returns by how many bytes the count grows if `unit` is taken next.
  [[nodiscard]] double growth(std::size_t unit) const {
    double bytes = 0;
    for (const LayerId layer : units_[unit]) {
      for (const ValueId output : graph_.layer(layer).outputs)
        if (users_outside(output, unit) > 0) bytes += size(output);
      for (const ValueId input : graph_.layer(layer).inputs)
        if (first_user_in(input, unit) == layer && ends_here(input, unit)) bytes -= size(input);
    }
    return bytes;
  }
  // Takes `unit`, and returns the bytes that cross behind it.
  double take(std::size_t unit) {
    now_ += growth(unit);
    for (const LayerId layer : units_[unit])
      for (const ValueId input : graph_.layer(layer).inputs) --users_left_[input.index()];
    return now_;
  }

 private:
  [[nodiscard]] std::size_t users_outside(ValueId value, std::size_t unit) const {
    std::size_t count = 0;
    for (const LayerId user : graph_.value(value).consumers)
      count += unit_[user.index()] == unit ? 0 : 1;
    return count;
  }
  [[nodiscard]] LayerId first_user_in(ValueId value, std::size_t unit) const {
    for (const LayerId user : graph_.value(value).consumers)
      if (unit_[user.index()] == unit) return user;
    return LayerId{-1};
  }
  // Returns whether `value` comes from another unit and `unit` is the last to use it.
  [[nodiscard]] bool ends_here(ValueId value, std::size_t unit) const {
    const graph::Value& of = graph_.value(value);
    return unit_[of.producer.index()] != unit &&
           users_left_[value.index()] == of.consumers.size() - users_outside(value, unit);
  }
  [[nodiscard]] double size(ValueId id) const {
    const graph::Value& value = graph_.value(id);
    return graph_.layer(value.producer).is_input ? 0 : static_cast<double>(value.bytes.count);
  }
  const graph::Graph& graph_;
  const Units& units_;
  std::vector<std::size_t> unit_;
  std::vector<std::size_t> users_left_;  // by value: consumers that are not yet taken
  double now_ = 0;                       // bytes that cross behind the units taken
};

// Returns the sum over all prefixes of `order` of the bytes that cross them.
double bytes_along(const graph::Graph& graph, const Units& units,
                   const std::vector<std::size_t>& order) {
  CrossingBytes crossing(graph, units);
  double sum = 0;
  for (const std::size_t unit : order) sum += crossing.take(unit);
  return sum;
}

// Returns an order in which each next unit is, of those whose producers are all taken, the one
// behind which the fewest bytes cross; of equals the first.
std::vector<std::size_t> greedy_order(const graph::Graph& graph, const Units& units) {
  const std::vector<std::size_t> unit = unit_of_each(graph, units);
  std::vector<std::set<std::size_t>> needs(units.size());
  std::vector<std::set<std::size_t>> users(units.size());
  for (const graph::Value& value : graph.values()) {
    const std::size_t from = unit[value.producer.index()];
    for (const LayerId user : value.consumers) {
      const std::size_t to = unit[user.index()];
      if (from == kNone || from == to) continue;
      needs[to].insert(from);
      users[from].insert(to);
    }
  }
  std::set<std::size_t> ready;
  for (std::size_t u = 0; u < units.size(); ++u)
    if (needs[u].empty()) ready.insert(u);
  CrossingBytes crossing(graph, units);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t next =
        *std::min_element(ready.begin(), ready.end(), [&](std::size_t a, std::size_t b) {
          return std::pair(crossing.growth(a), a) < std::pair(crossing.growth(b), b);
        });
    ready.erase(next);
    (void)crossing.take(next);
    order.push_back(next);
    for (const std::size_t user : users[next]) {
      needs[user].erase(next);
      if (needs[user].empty()) ready.insert(user);
    }
  }
  return order;
}

using Members = std::vector<unsigned char>;  // a set of units: by unit, 1 if it is in the set

}  // namespace

Units narrow_order(const graph::Graph& graph, const Units& units) {
  std::vector<std::size_t> given(units.size());
  std::iota(given.begin(), given.end(), std::size_t{0});
  const std::vector<std::size_t> greedy = greedy_order(graph, units);
  if (bytes_along(graph, units, greedy) >= bytes_along(graph, units, given)) return units;
  Units ordered;
  for (const std::size_t unit : greedy) ordered.push_back(units[unit]);
  return ordered;
}

Cuts::Cuts(const profile::Profile& profile, std::size_t most)
    : Cuts(profile, layer_units(profile), most) {}

Cuts Cuts::of_single_layers(const profile::Profile& profile, std::size_t most) {
  return Cuts(profile, single_layers(profile), most);
}

Cuts Cuts::in_declared_order(const profile::Profile& profile) {
  return Cuts(profile, single_layers(profile), 0);
}

// If `most` is 0, the cuts are the prefixes of `units` in their given order.
Cuts::Cuts(const profile::Profile& profile, Units units, std::size_t most)
    : profile_(profile), units_(std::move(units)) {
  link_units();
  merged_ = std::any_of(units_.begin(), units_.end(),
                        [](const std::vector<LayerId>& unit) { return unit.size() > 1; });
  if (is_chain() || most == 0) {
    complete_ = is_chain();
    take_prefixes();
  } else if (!enumerate(most)) {
    complete_ = false;
    units_ = narrow_order(profile.graph, units_);
    link_units();
    take_prefixes();
  }
  sum_up();
  find_crossing();
  find_working();
  find_layers();
}

void Cuts::link_units() {
  const graph::Graph& graph = profile_.graph;
  const std::vector<std::size_t> unit = unit_of_each(graph, units_);
  values_.clear();
  needs_.assign(units_.size(), {});
  for (const graph::Value& value : graph.values()) {
    const std::size_t producer = unit[value.producer.index()];
    if (producer == kNone) continue;
    std::set<std::size_t> users;
    for (const LayerId user : value.consumers)
      if (unit[user.index()] != producer) users.insert(unit[user.index()]);
    if (users.empty()) continue;
    for (const std::size_t user : users) needs_[user].push_back(producer);
    values_.push_back({producer, std::vector<std::size_t>(users.begin(), users.end()),
                       static_cast<double>(value.bytes.count)});
  }
}

// Returns whether each unit depends on the unit before it. Then there is no other order of them.
bool Cuts::is_chain() const {
  for (std::size_t u = 1; u < units_.size(); ++u)
    if (std::find(needs_[u].begin(), needs_[u].end(), u - 1) == needs_[u].end()) return false;
  return true;
}

void Cuts::take_prefixes() {
  in_line_ = true;
  below_.clear();
  forward_.assign(units_.size() + 1, 0);
}

// Makes all down-sets the cuts, the smaller sets first. Returns false if there are more than
// `most`.
bool Cuts::enumerate(std::size_t most) {
  const std::size_t units = units_.size();
  if (units + 1 > most) return false;
  std::vector<Members> found{Members(units, 0)};
  std::map<Members, std::size_t> number{{found[0], 0}};
  below_.assign(1, {});
  for (std::size_t at = 0; at < found.size(); ++at) {
    for (std::size_t u = 0; u < units; ++u) {
      const Members& here = found[at];
      const bool ready = here[u] == 0 && std::all_of(needs_[u].begin(), needs_[u].end(),
                                                     [&](std::size_t n) { return here[n] != 0; });
      if (!ready) continue;
      Members next = here;
      next[u] = 1;
      const auto [place, is_new] = number.emplace(next, found.size());
      if (is_new) {
        if (found.size() == most) return false;
        found.push_back(std::move(next));
        below_.emplace_back();
      }
      below_[place->second].emplace_back(at, u);
    }
  }
  in_line_ = false;
  forward_.assign(found.size(), 0);
  for (const Members& members : found)
    members_.insert(members_.end(), members.begin(), members.end());
  // b contains a if a is, or is inside, a cut that has all units of b but one.
  inside_.assign(found.size() * found.size(), 0);
  for (std::size_t b = 0; b < found.size(); ++b)
    for (const auto& [parent, unit] : below_[b]) {
      inside_[parent * found.size() + b] = 1;
      for (std::size_t a = 0; a < parent; ++a)
        if (inside_[a * found.size() + parent] != 0) inside_[a * found.size() + b] = 1;
    }
  return true;
}

Cuts Cuts::accumulating(int minibatches) const {
  Cuts cuts = *this;
  cuts.accumulate_ = minibatches;
  cuts.sum_up();
  return cuts;
}

void Cuts::sum_up() {
  const std::size_t cuts = forward_.size();
  for (auto* sums : {&backward_, &fixed_forward_, &fixed_backward_, &averaging_, &weights_, &held_})
    sums->assign(cuts, 0);
  for (std::size_t cut = 1; cut < cuts; ++cut) {
    const auto [from, unit] = in_line_ ? std::pair(cut - 1, cut - 1) : below_[cut].front();
    for (auto* sums :
         {&forward_, &backward_, &fixed_forward_, &fixed_backward_, &averaging_, &weights_, &held_})
      (*sums)[cut] = (*sums)[from];
    for (const LayerId layer : units_[unit]) {
      const profile::LayerCost& cost = profile_.cost(layer);
      forward_[cut] += static_cast<double>(cost.forward.count());
      backward_[cut] += static_cast<double>(cost.backward_with_update(accumulate_).count());
      fixed_forward_[cut] += static_cast<double>(cost.fixed_forward.count());
      fixed_backward_[cut] += static_cast<double>(cost.fixed_backward.count());
      averaging_[cut] += static_cast<double>((cost.averaging / accumulate_).count());
      weights_[cut] += static_cast<double>(cost.weights.count);
      held_[cut] += static_cast<double>(profile::held_bytes(profile_, layer).count);
    }
  }
}

void Cuts::find_crossing() {
  crossing_.assign(count(), {});
  crossing_bytes_.assign(count(), 0);
  const auto note = [&](std::size_t cut, std::size_t v) {
    crossing_[cut].push_back(v);
    crossing_bytes_[cut] += values_[v].bytes;
  };
  for (std::size_t v = 0; v < values_.size(); ++v) {
    const auto& consumers = values_[v].consumers;
    if (in_line_) {
      for (std::size_t cut = values_[v].producer + 1; cut <= consumers.back(); ++cut) note(cut, v);
      continue;
    }
    for (std::size_t cut = 0; cut < count(); ++cut)
      if (contains(cut, values_[v].producer) &&
          std::any_of(consumers.begin(), consumers.end(),
                      [&](std::size_t user) { return !contains(cut, user); }))
        note(cut, v);
  }
}

void Cuts::find_working() {
  const graph::Graph& graph = profile_.graph;
  const auto bytes_of = [&](const std::vector<ValueId>& values) {
    double bytes = 0;
    for (const ValueId v : values)
      if (!graph.layer(graph.value(v).producer).is_input)  // data has no gradient
        bytes += static_cast<double>(graph.value(v).bytes.count);
    return bytes;
  };
  std::vector<double> of_unit;
  for (const std::vector<LayerId>& unit : units_) {
    double most = 0;
    for (const LayerId layer : unit)
      most = std::max(most,
                      bytes_of(graph.layer(layer).inputs) + bytes_of(graph.layer(layer).outputs));
    of_unit.push_back(most);
  }
  if (in_line_) {  // working_[p][i] is the largest of the 2^p units from unit i on
    working_.push_back(std::move(of_unit));
    for (std::size_t width = 1; 2 * width <= units_.size(); width *= 2) {
      const std::vector<double>& half = working_.back();
      std::vector<double> row;
      for (std::size_t i = 0; i + 2 * width <= units_.size(); ++i)
        row.push_back(std::max(half[i], half[i + width]));
      working_.push_back(std::move(row));
    }
    return;
  }
  working_.assign(count(), std::vector<double>(count(), 0));
  for (std::size_t b = 1; b < count(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      if (!precedes(a, b)) continue;
      for (const auto& [parent, unit] : below_[b]) {
        if (parent != a && !precedes(a, parent)) continue;
        working_[a][b] = std::max(parent == a ? 0 : working_[a][parent], of_unit[unit]);
        break;
      }
    }
}

double Cuts::working(std::size_t a, std::size_t b) const {
  if (!in_line_) return working_[a][b];
  const auto power = static_cast<std::size_t>(std::bit_width(b - a) - 1);
  return std::max(working_[power][a], working_[power][b - (std::size_t{1} << power)]);
}

void Cuts::find_layers() {
  if (!profile::knows_working(profile_)) return;
  const std::vector<std::size_t> places = places_in_order(profile_.graph);
  for (const std::vector<LayerId>& unit : units_) {
    layers_.emplace_back();
    for (const LayerId layer : unit)
      layers_.back().emplace_back(places[layer.index()], layer_size(profile_, layer));
  }
}

// Returns the sizes of the stage's layers in the order of the graph. That is the order of the
// units, unless a unit has layers that are far apart in the graph.
std::vector<cost::LayerSize> Cuts::layer_sizes(std::size_t a, std::size_t b) const {
  if (layers_.empty()) return {};
  std::vector<const Placed*> found;
  for (std::size_t u = in_line_ ? a : 0; u < (in_line_ ? b : units_.size()); ++u)
    if (contains(b, u) && !contains(a, u))
      for (const Placed& layer : layers_[u]) found.push_back(&layer);
  const auto before = [](const Placed* x, const Placed* y) { return x->first < y->first; };
  if (!std::is_sorted(found.begin(), found.end(), before))
    std::sort(found.begin(), found.end(), before);
  std::vector<cost::LayerSize> sizes;
  sizes.reserve(found.size());
  for (const Placed* layer : found) sizes.push_back(layer->second);
  return sizes;
}

double Cuts::received(std::size_t a, std::size_t b) const {
  double bytes = 0;
  for (const std::size_t v : crossing_[a]) {
    const auto& users = values_[v].consumers;
    if (std::any_of(users.begin(), users.end(),
                    [&](std::size_t user) { return contains(b, user) && !contains(a, user); }))
      bytes += values_[v].bytes;
  }
  return bytes;
}

cost::StageSize Cuts::size(std::size_t a, std::size_t b) const {
  const auto bytes = [](double count) { return Bytes{static_cast<std::int64_t>(count)}; };
  return {bytes(weights(a, b)), bytes(held_[b] - held_[a]), bytes(received(a, b)),
          bytes(working(a, b)), layer_sizes(a, b)};
}

std::vector<LayerId> Cuts::layers(std::size_t a, std::size_t b) const {
  std::vector<LayerId> found;
  for (std::size_t u = 0; u < units_.size(); ++u)
    if (contains(b, u) && !contains(a, u))
      found.insert(found.end(), units_[u].begin(), units_[u].end());
  return found;
}

std::vector<Cuts::Flow> Cuts::flows(std::span<const std::size_t> ends) const {
  std::vector<Flow> flows;
  for (std::size_t to = 1; to + 1 < ends.size(); ++to) {
    const std::size_t first_of_stage = flows.size();
    for (const std::size_t v : crossing_[ends[to]]) {
      const auto& users = values_[v].consumers;
      const auto is_here = [&](std::size_t user) {
        return contains(ends[to + 1], user) && !contains(ends[to], user);
      };
      if (std::none_of(users.begin(), users.end(), is_here)) continue;
      std::size_t from = to - 1;
      while (contains(ends[from], values_[v].producer)) --from;
      const auto same = std::find_if(flows.begin() + static_cast<std::ptrdiff_t>(first_of_stage),
                                     flows.end(), [&](const Flow& f) { return f.from == from; });
      if (same == flows.end())
        flows.push_back({from, to, values_[v].bytes});
      else
        same->bytes += values_[v].bytes;
    }
  }
  return flows;
}

}  // namespace pipedream::plan
