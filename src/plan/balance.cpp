#include "plan/balance.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "core/error.h"

namespace pipedream::plan {
namespace {

// Fills blocks of at most `most` each from the front, and leaves at least one element for every
// later block. Returns the number of elements before each cut; empty if `blocks` blocks do not
// suffice.
std::vector<std::size_t> fill(std::span<const std::int64_t> sizes, int blocks, std::int64_t most) {
  std::vector<std::size_t> cuts;
  std::size_t at = 0;
  for (int block = 0; block < blocks; ++block) {
    const std::size_t end = sizes.size() - static_cast<std::size_t>(blocks - block - 1);
    std::int64_t sum = 0;
    const std::size_t begin = at;
    while (at < end && sum + sizes[at] <= most) sum += sizes[at++];
    if (at == begin) return {};
    if (block + 1 < blocks) cuts.push_back(at);
  }
  return at == sizes.size() ? cuts : std::vector<std::size_t>{};
}

// Returns what `balance` balances, for each layer.
std::vector<std::int64_t> sizes_of(const Predictor& predictor, Balance balance) {
  std::vector<std::int64_t> sizes;
  const profile::Profile& profile = predictor.cuts().profile();
  const int copies = 2 + predictor.setting().optimiser_copies;  // 2: weights and gradients
  const Cuts& cuts = predictor.cuts();
  for (const LayerId layer : cuts.layers(0, cuts.last())) {
    const profile::LayerCost& cost = profile.cost(layer);
    sizes.push_back(balance == Balance::kTime
                        ? (cost.forward + cost.backward_with_update(cuts.accumulate())).count()
                        : copies * cost.weights.count + profile::held_bytes(profile, layer).count);
  }
  return sizes;
}

// Returns a layout with one worker per stage, from worker 0 on.
Layout straight_layout(std::vector<std::size_t> ends) {
  Layout layout;
  layout.ends = std::move(ends);
  for (std::size_t s = 0; s + 1 < layout.ends.size(); ++s)
    layout.workers.push_back({id_at<WorkerId>(s)});
  return layout;
}

}  // namespace

std::vector<std::size_t> balanced_split(std::span<const std::int64_t> sizes, int blocks) {
  PD_CHECK(blocks >= 1 && static_cast<std::size_t>(blocks) <= sizes.size());
  if (blocks == 1) return {};
  // Sums are whole numbers, so bisection finds the smallest possible largest sum exactly.
  std::int64_t low = *std::max_element(sizes.begin(), sizes.end());
  std::int64_t high = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (fill(sizes, blocks, middle).empty())
      low = middle + 1;
    else
      high = middle;
  }
  return fill(sizes, blocks, high);
}

std::vector<std::size_t> balanced_ends(const Predictor& predictor, Balance balance, int stages) {
  std::vector<std::size_t> ends{0};
  for (const std::size_t layers : balanced_split(sizes_of(predictor, balance), stages))
    ends.push_back(layers);
  ends.push_back(predictor.cuts().last());
  return ends;
}

Candidates plan_balanced(const Predictor& predictor, Balance balance, StageRange range) {
  const int layers = static_cast<int>(predictor.cuts().unit_count());
  const int most = std::min({range.most, layers, predictor.links().workers()});
  std::vector<Layout> layouts;
  for (int stages = std::min(range.fewest, most); stages <= most; ++stages)
    layouts.push_back(straight_layout(balanced_ends(predictor, balance, stages)));
  return as_candidates(predictor, std::move(layouts));
}

Outcome plan_split(const Predictor& predictor, std::span<const int> split) {
  const int layers = static_cast<int>(predictor.cuts().unit_count());
  if (static_cast<int>(split.size()) + 1 > predictor.links().workers())
    throw BadValue("`split`: wanted at most " + std::to_string(predictor.links().workers()) +
                   " stages, one per worker, found " + std::to_string(split.size() + 1));
  std::vector<std::size_t> ends{0};
  int before = 0;
  for (const int layer : split) {
    if (layer <= before || layer >= layers)
      throw BadValue("`split`: wanted ascending numbers of layers from 1 to " +
                     std::to_string(layers - 1) + ", found " + std::to_string(layer) +
                     (before > 0 ? " after " + std::to_string(before) : ""));
    ends.push_back(static_cast<std::size_t>(layer));
    before = layer;
  }
  ends.push_back(predictor.cuts().last());
  return as_outcome(predictor, straight_layout(std::move(ends)));
}

}  // namespace pipedream::plan
