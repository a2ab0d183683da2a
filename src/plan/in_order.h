// A dynamic programme over cuts and workers in order, which knows where every stage lies:
//
//   best(b, w) = min over a and r of max( best(a, w − r), stage a→b on workers w−r … w−1, cut at a
//   )
//
// It leaves out what spans more than two stages (the loop limit, several stages on one link), so
// its plans are starting points for the search, not answers.
#pragma once

#include "plan/search.h"

namespace pipedream::plan {

// How wide the stage before a cut is taken to be: the programme does not know it.
enum class Sender { kOneWorker, kAsManyAsReceivers };

// One draft for each number of workers per copy that can be used; none where the problem is too
// large for this.
[[nodiscard]] std::vector<Draft> drafts_in_order(const Predictor& predictor, int copies,
                                                 bool straight, Sender sender);

}  // namespace pipedream::plan
