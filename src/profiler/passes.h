// The three kinds of passes that a profile is made of.
#pragma once

#include <vector>

#include "model/whole_model.h"
#include "profile/profile.h"
#include "profiler/filler.h"

namespace pipedream::profiler {

using model::Values;
using model::WholeModel;

struct LayerTime {
  Nanos forward{0};
  Nanos backward{0};
};

// Passes that run each layer on its own, forward in order and then backward.
class LayerByLayer {
 public:
  explicit LayerByLayer(WholeModel& model) : model_(model), filler_(model.device()) {}
  // The time of each layer, by layer.
  [[nodiscard]] std::vector<LayerTime> run(const Values& inputs, std::int64_t minibatch);

 private:
  WholeModel& model_;
  Filler filler_;
  Nanos queueing_{0};  // the least a pass took the CPU to give to the device
};

// Runs forward and backward of the model in one go.
[[nodiscard]] Nanos run_whole(WholeModel& model, const Values& inputs, std::int64_t minibatch);

// How large a layer's outputs are, and what it keeps for its backward (profile.h).
struct LayerMemory {
  std::vector<Bytes> outputs;
  Bytes stash;
  std::vector<bool> keeps_input;
  std::vector<bool> keeps_output;
};
[[nodiscard]] std::vector<LayerMemory> run_for_memory(WholeModel& model, const Values& inputs);

}  // namespace pipedream::profiler
