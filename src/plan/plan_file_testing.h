// Compares plan files field by field for tests, so that a test of the writer does not compare by
// what the writer wrote.
#pragma once

#include <string>

#include "plan/plan_file.h"

namespace pipedream::plan {

// Returns the first field in which `a` and `b` differ; empty if they are equal.
[[nodiscard]] inline std::string difference(const PlanFile& a, const PlanFile& b) {
  if (a.model != b.model) return "model: " + a.model + " / " + b.model;
  if (a.workers != b.workers) return "workers";
  if (a.device != b.device) return "device: " + a.device + " / " + b.device;
  if (a.precision != b.precision) return "precision: " + a.precision + " / " + b.precision;
  if (a.batch != b.batch) return "batch";
  if (a.plan.system != b.plan.system) return "system: " + a.plan.system + " / " + b.plan.system;
  if (a.plan.microbatches != b.plan.microbatches) return "microbatches";
  if (a.plan.accumulate != b.plan.accumulate) return "accumulate";
  if (a.plan.stages.size() != b.plan.stages.size()) return "number of stages";
  for (std::size_t s = 0; s < a.plan.stages.size(); ++s) {
    const Stage& x = a.plan.stages[s];
    const Stage& y = b.plan.stages[s];
    if (x.layers != y.layers || x.workers != y.workers || x.depth != y.depth ||
        x.recompute != y.recompute)
      return "stage " + std::to_string(s);
  }
  return a.predicted == b.predicted ? "" : "what was predicted";
}

}  // namespace pipedream::plan
