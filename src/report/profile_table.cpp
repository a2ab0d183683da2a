#include "report/profile_table.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/check.h"
#include "report/table.h"

namespace pipedream::report {
namespace {

constexpr int kBarWidth = 12;
constexpr double kDoubtful = 0.05;  // the table warns of a larger sum_error()
constexpr std::size_t kWidestName = 28;
constexpr std::size_t kWidestKind = 28;

Nanos time_of(const profile::Profile& profile, LayerId layer) {
  return profile.cost(layer).forward + profile.cost(layer).backward_with_update();
}

bool knows_updates(const profile::Profile& profile) { return total_update(profile) > Nanos(0); }

Bytes output_bytes(const profile::Profile& profile, LayerId layer) {
  Bytes sum;
  for (const ValueId output : profile.graph.layer(layer).outputs)
    sum += profile.graph.value(output).bytes;
  return sum;
}

// Returns all layers that compute, the slowest first. Equal layers keep the order of the graph.
std::vector<LayerId> by_weight(const profile::Profile& profile) {
  std::vector<LayerId> layers;
  for (const LayerId layer : profile.graph.order())
    if (!profile.graph.layer(layer).is_input) layers.push_back(layer);
  std::stable_sort(layers.begin(), layers.end(),
                   [&](LayerId a, LayerId b) { return time_of(profile, a) > time_of(profile, b); });
  return layers;
}

// Returns the fewest layers that together take half of the time.
std::set<LayerId> heaviest(const profile::Profile& profile, const std::vector<LayerId>& sorted,
                           Nanos total) {
  std::set<LayerId> marked;
  Nanos sum{0};
  for (const LayerId layer : sorted) {
    if (sum * 2 >= total) break;
    sum += time_of(profile, layer);
    marked.insert(layer);
  }
  return marked;
}

std::string counted(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string size_or_dash(Bytes size) { return size.count == 0 ? "-" : to_text(size); }

std::string heading(const profile::Profile& profile, std::size_t layers) {
  std::string text = profile.model;
  if (profile.batch) text += fmt::format(", minibatch of {}", *profile.batch);
  text += ", " + counted(layers, "layer");
  if (!profile.device.empty()) text += ", on " + profile.device;
  if (!profile.precision.empty() && profile.precision != "fp32") text += ", " + profile.precision;
  if (profile.threads)
    text += " with " + counted(static_cast<std::size_t>(*profile.threads), "thread");
  if (profile.workers.value_or(1) > 1)
    text += ", beside " + counted(static_cast<std::size_t>(*profile.workers - 1), "busy worker");
  return text + "\n\n";
}

// Explains the mark ◀. Both the marked and the shown layers are the heaviest, but there may be more
// marked layers than shown ones.
std::string legend(std::size_t marked, std::size_t shown) {
  const std::string these = shown == 1 ? "this" : "these";
  const std::string who =
      marked == 1       ? "this layer"
      : marked <= shown ? fmt::format("these {} layers", marked)
                        : fmt::format("{} and {} of the lighter layers", these, marked - shown);
  return fmt::format("\n◀ {}: half of the time\n", who);
}

// Returns the columns for the entries of row_of().
std::vector<Column> columns() {
  return {{"layer"},
          {"kind"},
          {"forward", Align::kRight},
          {"backward", Align::kRight},
          {"share", Align::kRight},
          {""},
          {"output", Align::kRight},
          {"weights", Align::kRight},
          {"kept", Align::kRight}};
}

// Inserts the entry about updates after the one about backward.
template <class Entry>
std::vector<Entry> with_update(std::vector<Entry> entries, Entry update) {
  entries.insert(entries.begin() + 4, std::move(update));
  return entries;
}

std::string time_or_dash(Nanos time) { return time == Nanos(0) ? "-" : to_text(time); }

// Returns the entries of one layer. `share` is its share of the whole time. `largest` is the share
// of the heaviest layer, whose bar is full.
std::vector<std::string> row_of(const profile::Profile& profile, LayerId id, double share,
                                double largest, bool marked) {
  const graph::Layer& layer = profile.graph.layer(id);
  const profile::LayerCost& cost = profile.cost(id);
  return {shortened(layer.name, kWidestName),
          shortened(layer.kind, kWidestKind),
          to_text(cost.forward),
          to_text(cost.backward),
          percent(share),
          bar(largest == 0 ? 0 : share / largest, kBarWidth) + (marked ? " ◀" : ""),
          to_text(output_bytes(profile, id)),
          size_or_dash(cost.weights),
          size_or_dash(held_bytes(profile, id))};
}

Bytes total_held(const profile::Profile& profile) {
  Bytes sum;
  for (std::size_t i = 0; i < profile.costs.size(); ++i)
    if (!profile.graph.layers()[i].is_input) sum += held_bytes(profile, id_at<LayerId>(i));
  return sum;
}

std::string sums(const profile::Profile& profile) {
  const Nanos total = total_time(profile);
  std::string text = fmt::format("\nall layers: {} forward + {} backward",
                                 to_text(total_forward(profile)), to_text(total_backward(profile)));
  if (knows_updates(profile)) text += fmt::format(" + {} update", to_text(total_update(profile)));
  text += fmt::format(" = {} per minibatch", to_text(total));
  if (profile.batch && total > Nanos(0))
    text +=
        fmt::format(", {:.1f} samples/s", static_cast<double>(*profile.batch) / to_seconds(total));
  text += fmt::format("; {} of weights, {} kept for backward\n", to_text(total_weights(profile)),
                      to_text(total_held(profile)));
  if (total_fixed(profile) > Nanos(0))
    text += fmt::format("fixed, however few samples: {} of it, {}; each microbatch takes that\n",
                        to_text(total_fixed(profile)),
                        percent(to_seconds(total_fixed(profile)) / to_seconds(total)));
  if (total_averaging(profile) > Nanos(0))
    text += fmt::format("averaging with other replicas takes each another {}\n",
                        to_text(total_averaging(profile)));
  if (profile.whole && *profile.whole > Nanos(0))
    text += fmt::format("the whole model in one go: {}; the sum of its layers is {:.1f} % {}\n",
                        to_text(*profile.whole), std::abs(sum_error(profile)) * 100,
                        sum_error(profile) < 0 ? "less" : "more");
  if (profile.whole && *profile.whole > Nanos(0) && std::abs(sum_error(profile)) > kDoubtful)
    text += fmt::format(
        "more than {:.0f} % apart: do not trust these figures; was the machine busy{}?\n",
        kDoubtful * 100, profile.passes ? ", or were the passes too few" : "");
  if (profile.passes)
    text += fmt::format(
        "medians of {} pass{}{}\n", *profile.passes, *profile.passes == 1 ? "" : "es",
        profile.spread ? ", whose times are " + percent(*profile.spread) + " apart" : "");
  if (profile::was_unsteady(profile))
    text += "the machine was not steady: measure again when nothing else runs\n";
  text += fmt::format("reading a minibatch: {}\n", to_text(profile.input));
  return text;
}

}  // namespace

double sum_error(const profile::Profile& profile) {
  PD_CHECK(profile.whole > Nanos(0));
  return to_seconds(total_time(profile)) / to_seconds(*profile.whole) - 1;
}

std::string profile_table(const profile::Profile& profile, std::size_t most_rows) {
  const Nanos total = total_time(profile);
  const std::vector<LayerId> sorted = by_weight(profile);
  const std::set<LayerId> marked = heaviest(profile, sorted, total);
  const auto shown_count = static_cast<std::ptrdiff_t>(std::min(most_rows, sorted.size()));
  const std::set<LayerId> shown(sorted.begin(), sorted.begin() + shown_count);
  const auto share_of = [&](LayerId layer) {
    return total.count() == 0 ? 0.0 : to_seconds(time_of(profile, layer)) / to_seconds(total);
  };
  const bool updates = knows_updates(profile);
  Table table(updates ? with_update(columns(), {"update", Align::kRight}) : columns());
  double hidden = 0;
  for (const LayerId id : profile.graph.order()) {
    if (profile.graph.layer(id).is_input) continue;
    if (!shown.contains(id)) {
      hidden += share_of(id);
      continue;
    }
    auto row = row_of(profile, id, share_of(id), share_of(sorted.front()), marked.contains(id));
    if (updates) row = with_update(std::move(row), time_or_dash(profile.cost(id).update));
    table.add_row(std::move(row));
  }
  std::string text = heading(profile, sorted.size()) + table.text();
  if (shown.size() < sorted.size())
    text += fmt::format("… and {} with {} of the time (`all` shows them)\n",
                        counted(sorted.size() - shown.size(), "lighter layer"), percent(hidden));
  if (!marked.empty()) text += legend(marked.size(), shown.size());
  return text + sums(profile);
}

}  // namespace pipedream::report
