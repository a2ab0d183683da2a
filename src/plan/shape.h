// A layout with all that its predicted time and memory depend on besides microbatches, depths and
// recomputation: computed once per layout, while these choices are tried out.
#pragma once

#include <vector>

#include "cost/links.h"
#include "cost/memory.h"
#include "plan/predict.h"

namespace pipedream::plan {

// One stage of a layout.
struct StageShape {
  // One minibatch on the slowest replica, run as one item, and the part of it that is spent however
  // few samples an item has.
  Seconds forward{0};
  Seconds backward{0};
  Seconds fixed_forward{0};
  Seconds fixed_backward{0};
  int replicas = 1;
  cost::StageSize size;
  Bytes memory_limit;  // the smallest that a replica's worker has
  Seconds averaging{0};
};

// The values of a minibatch that go from one stage to another.
struct TransferShape {
  std::size_t from = 0;  // indices of stages
  std::size_t to = 0;
  double bytes = 0;
  double latency = 0;  // seconds
  // A whole minibatch, from one replica to one. Where replicas share items: as all replicas of
  // both stages share the links.
  double seconds = 0;

  // One of the items that `share` describes.
  [[nodiscard]] Seconds item(const cost::ItemShare& share) const {
    return Seconds(latency + seconds * share.minibatches / share.microbatches);
  }
};

struct Predictor::Shape {
  const Layout* layout = nullptr;
  std::vector<StageShape> stages;
  std::vector<TransferShape> transfers;
  cost::LinkLoads::Busiest busiest;
  double bytes = 0;  // of a minibatch, over all links

  [[nodiscard]] std::vector<int> replicas() const {
    std::vector<int> counts;
    for (const StageShape& stage : stages) counts.push_back(stage.replicas);
    return counts;
  }
};

}  // namespace pipedream::plan
