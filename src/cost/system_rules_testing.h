// The traits and time rules of the systems, for tests of modules that must not include `systems`,
// where the list of systems is. A test of `systems` checks that both agree. Only test files include
// this.
#pragma once

#include "cost/asynchronous_time.h"
#include "cost/bulk_synchronous_time.h"
#include "cost/dapple_time.h"
#include "cost/gpipe_time.h"
#include "cost/interleaved_time.h"
#include "cost/one_f_one_b_time.h"
#include "cost/two_buffered_time.h"

namespace pipedream::cost {

inline constexpr SystemRules kModelParallel{{.flushes = true}, gpipe_time};
inline constexpr SystemRules kDataParallel{
    {.one_stage = true, .flushes = true, .replicas = Replicas::kTakeTurns}, bulk_synchronous_time};
inline constexpr SystemRules kAsynchronous{
    {.one_stage = true, .flushes = true, .replicas = Replicas::kTakeTurns, .asynchronous = true},
    asynchronous_time};
inline constexpr SystemRules kGpipe{{.cuts_minibatches = true,
                                     .flushes = true,
                                     .recomputes = true,
                                     .in_flight = InFlight::kMinibatch},
                                    gpipe_time};
inline constexpr SystemRules kDapple{{.cuts_minibatches = true,
                                      .flushes = true,
                                      .replicas = Replicas::kShareItems,
                                      .recomputes = true,
                                      .in_flight = InFlight::kDepth},
                                     dapple_time};
inline constexpr SystemRules kPipedream{{.replicas = Replicas::kTakeTurns,
                                         .recomputes = true,
                                         .in_flight = InFlight::kDepth,
                                         .versions = WeightVersions::kStashed},
                                        one_f_one_b_time};
inline constexpr SystemRules kTwoBuffered{{.cuts_minibatches = true,
                                           .replicas = Replicas::kTakeTurns,
                                           .recomputes = true,
                                           .in_flight = InFlight::kDepth,
                                           .versions = WeightVersions::kTwo},
                                          two_buffered_time};
inline constexpr SystemRules kInterleaved{{.cuts_minibatches = true,
                                           .flushes = true,
                                           .recomputes = true,
                                           .several_stages_per_worker = true,
                                           .in_flight = InFlight::kDepth},
                                          interleaved_time};

}  // namespace pipedream::cost
