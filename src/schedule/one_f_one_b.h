// PipeDream's 1F1B (docs/systems.md#pipedream): every worker alternates between a forward and a
// backward, and the pipeline is never flushed. Time goes right; three stages of one worker each:
//
//   F0 F1 F2       B0 F3 B1 F4 B2 …      a start-up of d forwards on a stage of depth d, then one
//      F0 F1    B0 F2 B1 F3 B2 …         backward and one forward in turn
//         F0 B0 F1 B1 F2 B2 …
//
// Stages of r replicas (1F1B-RR) take minibatches in turn: replica i runs i, i + r, i + 2r, …, and
// the replicas average once per round of r minibatches.
//
// The weight version that an op uses depends on `traits.versions`. Updates of a stage are numbered
// from 1; version 0 is the initial weights.
//  - kStashed: a backward uses the version of its own forward. On a stage with one worker each
//    backward is followed by its update, and the forward of minibatch b uses the newest version,
//    max(0, b − d + 1). On a stage with r replicas it uses max(0, ⌊b/r⌋ − d), so that the averaging
//    of round q may overlap compute until the forward of round q + d + 1.
//  - kVerticalSync: every stage uses the version that the first stage used, max(0, b − d₁ + 1).
//  - kUnstashed: every op uses the newest version. Forward and backward of a minibatch then use
//    different weights; this is kept to study what goes wrong.
//
// If an update has K rounds (a round of a stage with one worker is one minibatch), a stage updates
// after every K-th round only, and all these numbers of rounds are divided by K. With stashing, the
// forward of minibatch b uses max(0, ⌊(b − d + 1)/K⌋), or max(0, ⌊(⌊b/r⌋ − d)/K⌋) with replicas.
// Two stages, K = 2:
//
//   F0@0 F1@0           B0@0 F2@0      B1@0 U0>1 F3@1 B2@0 F4@1 B3@1 U1>2
//        F0@0 B0@0 F1@0 B1@0 U0>1 F2@1 B2@1      F3@1 B3@1 U1>2
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires that every worker is in one stage only and, with kVerticalSync, one worker per stage.
[[nodiscard]] Schedule one_f_one_b(const plan::Plan& plan, const Extent& extent,
                                   const cost::Traits& traits);

}  // namespace pipedream::schedule
