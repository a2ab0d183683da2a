// Checks that the memory of lowering does not grow on a long run. Only tests include this.
#pragma once

#include <algorithm>

#include <gtest/gtest.h>
#include <malloc.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {

// Returns the bytes that are allocated now, or 0 if a sanitizer has replaced the allocator.
[[nodiscard]] inline std::size_t live_bytes() {
  const auto use = ::mallinfo2();
  return use.uordblks + use.hblkhd;  // bytes in small blocks and in large ones
}

// Lowers 1F1B on four stages and takes the ops in the order in which they would run, one minibatch
// at a time on all workers. Expects all ops, and no more memory late in the run than early.
inline void expect_steady(std::int64_t minibatches) {
  const Pipeline pipeline = straight_pipeline(4);
  const Schedule schedule = one_f_one_b(pipeline, minibatches);
  const Routes routes(pipeline.plan, pipeline.graph, schedule.rules.traits.replicas);
  Lowering lowering(schedule, routes);
  std::int64_t ops = 0;
  std::size_t early = 0;
  std::size_t late = 0;
  for (std::int64_t now = 0; now < minibatches; ++now) {
    for (std::size_t p = 0; p < lowering.programs(); ++p)
      for (const Op* op; (op = lowering.peek(p)) != nullptr; lowering.pop(p), ++ops)
        if (minibatch_of(*op) > now) break;
    if (now % 100 == 0) {
      std::size_t& most = now < 1000 ? early : late;
      most = std::max(most, live_bytes());
    }
  }
  for (std::size_t p = 0; p < lowering.programs(); ++p) EXPECT_EQ(lowering.peek(p), nullptr);
  // Per minibatch: forward, backward and update on four workers, two loads, and a Send and a Recv
  // for each of three values and for each of their gradients.
  EXPECT_EQ(ops, minibatches * (4 * 3 + 2 + 3 * 2 * 2));
  EXPECT_LE(late, early) << "bytes pile up";
}

}  // namespace pipedream::schedule
