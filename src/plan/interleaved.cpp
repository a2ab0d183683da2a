#include "plan/interleaved.h"

#include <algorithm>
#include <set>

#include "plan/balance.h"
#include "plan/dealing.h"

namespace pipedream::plan {
namespace {

constexpr int kMostForEveryCount = 16;  // up to here every number of workers is tried

struct Deal {
  int workers = 1;
  int chunks = 1;
};

// Returns the numbers of workers to try.
std::set<int> worker_counts(const cost::Links& links) {
  const int all = links.workers();
  std::set<int> counts{all};
  for (int n = 2; n <= std::min(all, kMostForEveryCount); ++n) counts.insert(n);
  for (int n = 2; n <= all; n *= 2) counts.insert(n);
  for (std::size_t k = 1; k < links.levels(); ++k) counts.insert(links.inside(k));
  counts.erase(1);
  return counts;
}

std::vector<Deal> deals(const Predictor& predictor, std::optional<int> stages) {
  const int layers = static_cast<int>(predictor.cuts().unit_count());
  std::vector<Deal> all;
  for (const int workers : worker_counts(predictor.links())) {
    if (stages) {
      if (*stages % workers == 0 && *stages > workers && *stages <= layers)
        all.push_back({workers, *stages / workers});
      continue;
    }
    for (int chunks = 2; chunks <= kMostChunks && workers * chunks <= layers; ++chunks)
      all.push_back({workers, chunks});
  }
  // With too few layers or workers for two chunks each, the plan is one stage.
  if (all.empty() && stages.value_or(1) == 1) all.push_back({});
  return all;
}

Layout layout_of(const Predictor& predictor, const Deal& deal) {
  Layout layout;
  const int stages = deal.workers * deal.chunks;
  layout.ends = balanced_ends(predictor, Balance::kTime, stages);
  layout.workers = deal_out(stages, deal.workers);
  return layout;
}

}  // namespace

Candidates plan_interleaved(const Predictor& predictor, std::optional<int> stages) {
  const std::vector<Deal> tried = deals(predictor, stages);
  if (tried.empty())
    return Refusal{
        "`stages` " + std::to_string(*stages) +
            ": wanted a multiple of a number of workers, at least twice as large, and no "
            "more than the " +
            std::to_string(predictor.cuts().unit_count()) + " layers",
        {}};
  std::vector<Candidates> lists;
  for (const Recompute recompute : {Recompute::kNever, Recompute::kAlways}) {
    Setting setting = predictor.setting();
    if (setting.recompute == Recompute::kNever && recompute == Recompute::kAlways) continue;
    setting.recompute = recompute;
    const Predictor with(predictor.cuts(), predictor.cluster(), setting);
    std::vector<Layout> layouts;
    for (const Deal& deal : tried) layouts.push_back(layout_of(with, deal));
    lists.push_back(as_candidates(with, std::move(layouts)));
  }
  return joined(std::move(lists));
}

}  // namespace pipedream::plan
