// The part of a prediction that does not depend on microbatches, depths and recomputation. A
// Predictor computes it once per layout and then tries these choices (plan/predict.h).
#pragma once

#include <vector>

#include "cost/links.h"
#include "cost/memory.h"
#include "plan/predict.h"

namespace pipedream::plan {

// One stage of a layout.
struct StageShape {
  // The times of one minibatch on the slowest replica, run as one item. The backward includes the
  // update and, if there are replicas, the processor time of averaging.
  Seconds forward{0};
  Seconds backward{0};
  // The parts of `forward` and `backward` that do not depend on the number of samples.
  Seconds fixed_forward{0};
  Seconds fixed_backward{0};
  int replicas = 1;
  cost::StageSize size;
  Bytes memory_limit;    // the smallest of the memory limits of its workers
  Seconds averaging{0};  // one averaging of the gradients, if nothing else uses the links
};

// The values that one stage sends to another.
struct TransferShape {
  std::size_t from = 0;  // number of a stage
  std::size_t to = 0;    // number of a later stage
  double bytes = 0;      // per minibatch
  double latency = 0;    // of one message, in seconds
  // The time of `bytes` without latency: from one replica to one replica or, if replicas share
  // items, over the links of all replicas of both stages.
  double seconds = 0;

  // Returns the time of one item of size `share`.
  [[nodiscard]] Seconds item(const cost::ItemShare& share) const {
    return Seconds(latency + seconds * share.minibatches / share.microbatches);
  }
};

struct Predictor::Shape {
  const Layout* layout = nullptr;  // not owned
  std::vector<StageShape> stages;
  std::vector<TransferShape> transfers;  // between stages on different workers
  cost::LinkLoads::Busiest busiest;      // the busiest link
  double bytes = 0;                      // sent by all workers together per minibatch

  [[nodiscard]] std::vector<int> replicas() const {
    std::vector<int> counts;
    for (const StageShape& stage : stages) counts.push_back(stage.replicas);
    return counts;
  }
};

}  // namespace pipedream::plan
