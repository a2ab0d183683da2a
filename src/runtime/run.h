// A whole pipeline on threads of this process.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/worker.h"

namespace pipedream::runtime {

struct RunResult {
  timeline::Timeline timeline;
  std::vector<double> losses;                    // by minibatch
  std::map<std::string, at::Tensor> weights;     // final, by parameter name
  std::map<StageId, std::size_t> peak_versions;  // weight versions alive at once
  std::map<StageId, std::size_t> peak_items;     // items between forward and backward at once
};

// Interprets lowered, valid programs, one thread each. The first exception of any worker stops the
// others and is thrown here once all have ended.
[[nodiscard]] RunResult run_on_threads(const std::vector<schedule::Program>& programs,
                                       const model::Network& network, const plan::Plan& plan,
                                       const RunOptions& options);

// Runs body(0) … body(count−1) on threads of their own and joins them all; the first exception
// calls `abort`, which must wake the rest, and is rethrown.
void run_workers(int count, const std::function<void(int)>& body,
                 const std::function<void()>& abort);

}  // namespace pipedream::runtime
