#include "plan/candidates.h"

#include <algorithm>

#include "plan/by_machine.h"
#include "plan/in_order.h"

namespace pipedream::plan {
namespace {

constexpr std::size_t kMostSweep = 300;  // cuts that are tried for two-stage plans
constexpr std::size_t kMostTwoStagePlans = 1000;
constexpr int kMostLengths = 64;  // lengths of straight pipelines that are tried

// Returns the stages of a Relaxation's solution as a draft.
Draft from_steps(const std::vector<Relaxation::Step>& steps, int copies) {
  Draft draft{copies, {}};
  for (const Relaxation::Step& step : steps)
    draft.stages.push_back({step.end, step.workers / copies});
  return draft;
}

// Offers plans of two stages in which one stage has a single worker. The other stage has all other
// workers or, if that is not too much work, any number of them.
void offer_two_stages(Search& search, const Predictor& predictor) {
  const int workers = predictor.links().workers();
  const std::size_t last = predictor.cuts().last();
  const std::size_t step = 1 + last / kMostSweep;
  const bool few = last * static_cast<std::size_t>(workers) <= kMostTwoStagePlans;
  for (std::size_t cut = 1; cut < last; cut += step)
    for (int many = few ? 1 : workers - 1; many > 0 && many < workers; ++many) {
      search.offer(Draft{1, {{cut, many}, {last, 1}}});
      if (many > 1) search.offer(Draft{1, {{cut, 1}, {last, many}}});
    }
}

// Offers a straight pipeline of each length, with stages as even as possible.
void offer_straight(Search& search, const Predictor& predictor) {
  const Cuts& cuts = predictor.cuts();
  const int most = std::min(predictor.links().workers(), static_cast<int>(cuts.unit_count()));
  const int step = 1 + most / kMostLengths;
  for (int stages = 1; stages <= most; stages += step) {
    Draft draft;
    std::size_t from = 0;
    for (int s = 1; s <= stages; ++s) {
      const double target = cuts.compute(0, cuts.last()) * s / stages;
      std::size_t end = cuts.last();
      for (std::size_t cut = from + 1; s < stages && cut < cuts.last(); ++cut) {
        if (!cuts.precedes(from, cut) || cuts.compute(0, cut) < target) continue;
        end = cut;
        break;
      }
      draft.stages.push_back({end, 1});
      from = end;
      if (end == cuts.last()) break;
    }
    search.offer(draft);
  }
}

}  // namespace

void offer_candidates(Search& search, const Predictor& predictor, const Relaxation& relaxation,
                      const std::vector<int>& copies, bool straight) {
  const int workers = predictor.links().workers();
  const std::size_t last = predictor.cuts().last();
  for (const int c : copies) {
    search.offer(Draft{c, {{last, workers / c}}});
    bool any = false;
    for (const Sender sender : {Sender::kOneWorker, Sender::kAsManyAsReceivers}) {
      if (straight && any) break;  // both senders are the same without replicas
      for (const Draft& draft : drafts_in_order(predictor, c, straight, sender)) {
        search.offer(draft);
        any = true;
      }
    }
    if (!any) search.offer(from_steps(relaxation.solution(c), c));
  }
  search.offer(Draft{1, {{last, 1}}});
  const double alone = predictor.cuts().compute(0, last);
  if (!straight)
    for (const Draft& draft : drafts_by_machine(predictor, relaxation.bound(), alone))
      search.offer(draft);
  offer_straight(search, predictor);
  offer_two_stages(search, predictor);
}

}  // namespace pipedream::plan
