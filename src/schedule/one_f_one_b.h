// PipeDream's 1F1B: no flush, every worker runs one forward and one backward in turn. Time goes
// right; three stages of one worker each:
//
//   F0 F1 F2       B0 F3 B1 F4 B2 …      a start-up of d forwards on a stage of depth d, then one
//      F0 F1    B0 F2 B1 F3 B2 …         backward and one forward in turn
//         F0 B0 F1 B1 F2 B2 …
//
// Stages of r replicas (1F1B-RR) take minibatches in turn: replica i runs i, i + r, i + 2r, …, and
// the replicas average once per round of r minibatches.
//
// Weight versions (SYSTEMS: update rules, 1F1B facts):
//  - one worker: each backward is followed by its update; the forward of b uses the newest version,
//    max(0, b − d + 1);
//  - replicas: the forward of b uses max(0, ⌊b/r⌋ − d): the averaging of round q may go on until
//  the
//    forward of round q + d + 1;
//  - stashing: a backward uses the version of its own forward;
//  - vertical sync: every stage uses the version that the first stage used, max(0, b − d₁ + 1);
//  - no stash: every op uses the newest version there is; a study of what goes wrong then.
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

enum class Versions { kStashed, kVerticalSync, kNewest };

// Requires every worker in one stage only; kVerticalSync: one worker a stage.
[[nodiscard]] Schedule one_f_one_b(const plan::Plan& plan, const Extent& extent,
                                   Versions versions = Versions::kStashed);

}  // namespace pipedream::schedule
