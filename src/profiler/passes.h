// The three kinds of passes that a profile is made from: layer by layer for the layers' times, the
// whole model for the total, and layer by layer for memory (ARCHITECTURE.md, Profiles).
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

// Passes that run each layer on its own: all forwards in order, then all backwards. Unless `update`
// is empty, the updates of all layers follow, since a stage in training has all its gradients
// before it updates its weights. The updates change the model's weights. run() adds to the
// gradients that the model has, and leaves them there; callers that want none clear them. Used from
// one thread. The model must outlive it.
class LayerByLayer {
 public:
  LayerByLayer(WholeModel& model, Update update)
      : model_(model), update_(std::move(update)), stretches_(model.device()) {}
  // Runs one pass and returns each layer's times, indexed by layer.
  [[nodiscard]] std::vector<LayerTime> run(const Values& inputs, std::int64_t minibatch);
  // Runs the whole model in one go (run_whole() below) and returns its time. On an accelerator
  // filling work comes first, so that the device does not wait for the CPU; the time is the least
  // that such a pass takes.
  [[nodiscard]] Nanos run_whole(const Values& inputs, std::int64_t minibatch);

 private:
  WholeModel& model_;
  Update update_;
  Stretches stretches_;
};

// The first `samples` samples of each input.
[[nodiscard]] Values first_samples(Values inputs, std::int64_t samples);

// Updates all weights once with gradients of zero. In this update an optimiser allocates its state,
// which makes the first step of a training longer than all others.
void prepare_updates(WholeModel& model, const Update& update);

// Runs forward, backward and, unless it is empty, `update` of the model in one go. Returns the time
// of all, and clears the gradients afterwards.
[[nodiscard]] Nanos run_whole(WholeModel& model, const Values& inputs, std::int64_t minibatch,
                              const Update& update);

// The memory of one layer. `outputs` has the sizes of its outputs; the other fields are those of
// profile::LayerCost.
struct LayerMemory {
  std::vector<Bytes> outputs;
  Bytes stash;
  Bytes working;
  Bytes forward_working;
  std::vector<bool> keeps_input;
  std::vector<bool> keeps_output;
};
// Runs forward and backward of each layer on its own and returns the memory of each, indexed by
// layer. Calls `progress` with the share of the layers that are done. Leaves no gradients behind.
[[nodiscard]] std::vector<LayerMemory> run_for_memory(WholeModel& model, const Values& inputs,
                                                      const std::function<void(double)>& progress);

}  // namespace pipedream::profiler
