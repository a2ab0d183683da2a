// The three kinds of passes that a profile is made of.
#pragma once

#include <vector>

#include "model/whole_model.h"
#include "profile/profile.h"
#include "profiler/stretches.h"
#include "profiler/update.h"

namespace pipedream::profiler {

using model::Values;
using model::WholeModel;

struct LayerTime {
  Nanos forward{0};
  Nanos backward{0};
  Nanos update{0};
};

// Passes that run each layer on its own, forward in order and then backward; then, unless `update`
// is empty, the updates of all layers, as a stage in training has all its gradients before its
// weights are updated. They are the model's, and change. Gradients add to those that are there, and
// stay: whoever wants none clears them.
class LayerByLayer {
 public:
  LayerByLayer(WholeModel& model, Update update)
      : model_(model), update_(std::move(update)), stretches_(model.device()) {}
  // The time of each layer, by layer.
  [[nodiscard]] std::vector<LayerTime> run(const Values& inputs, std::int64_t minibatch);
  // The whole model in one go (below), on a device that does not wait for its CPU either: the least
  // that such a pass takes.
  [[nodiscard]] Nanos run_whole(const Values& inputs, std::int64_t minibatch);

 private:
  WholeModel& model_;
  Update update_;
  Stretches stretches_;
};

// The first so many samples of each input.
[[nodiscard]] Values first_samples(Values inputs, std::int64_t samples);

// One update of all weights with gradients of zero, in which an optimiser allocates its state: the
// first step of a training takes longer than all others.
void prepare_updates(WholeModel& model, const Update& update);

// Runs forward, backward and, unless it is empty, update of the model in one go.
[[nodiscard]] Nanos run_whole(WholeModel& model, const Values& inputs, std::int64_t minibatch,
                              const Update& update);

// How large a layer's outputs are, what it keeps for its backward, and what it needs while it runs
// (profile.h).
struct LayerMemory {
  std::vector<Bytes> outputs;
  Bytes stash;
  Bytes working;
  Bytes forward_working;
  std::vector<bool> keeps_input;
  std::vector<bool> keeps_output;
};
[[nodiscard]] std::vector<LayerMemory> run_for_memory(WholeModel& model, const Values& inputs);

}  // namespace pipedream::profiler
