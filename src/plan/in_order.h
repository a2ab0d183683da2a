// A dynamic programme that lays stages over the workers in order, so it knows on which workers
// every stage is (docs/planner.md#the-planners). best(b, w) is the time of the layers before cut b
// on the first w workers:
//
//   best(b, w) = min over a and r of
//                max( best(a, w − r), stage a→b on workers w−r … w−1, transfer over cut a )
//
// It leaves out what spans more than two stages (loop limits, several stages on one link). So its
// plans are starting points for a search and not answers.
#pragma once

#include "plan/search.h"

namespace pipedream::plan {

// How many workers the stage before a cut is assumed to have, since the programme does not know:
// one, or the same number as the stage after the cut.
enum class Sender { kOneWorker, kAsManyAsReceivers };

// Returns the best draft for each number of workers per copy. If memory is short, adds the drafts
// for shorter and shallower pipelines. `copies` equal pipelines lie side by side; `straight`: one
// replica per stage in each copy. Returns none if the problem is too large.
[[nodiscard]] std::vector<Draft> drafts_in_order(const Predictor& predictor, int copies,
                                                 bool straight, Sender sender);

}  // namespace pipedream::plan
