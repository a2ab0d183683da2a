// The state of a training that checkpoints keep: weights, optimiser state and layers' buffers, as
// tensors by name (docs/checkpoints.md). The names do not depend on the plan, so that any plan can
// go on from the state of any other.
//   NAME                  a parameter or a buffer, such as features.0.weight
//   optimiser.KIND.NAME   optimiser state of a parameter: optimiser.momentum.features.0.weight
//   replica.K.NAME        a buffer of replica K of its stage, from 1; replica 0's is NAME
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "runtime/worker.h"

namespace pipedream::runtime {

// Returns the part of the state that this worker writes, as copies in host memory that later
// training does not change. Over all workers, each tensor is in one part: replicas of a stage share
// its parameters among them. Must be called by all workers at the same point, between two segments.
// The copies of a GPU's tensors may still be under way: `HostCopies::Copy` says when they are done.
[[nodiscard]] std::map<std::string, HostCopies::Copy> copy_state(Worker& worker,
                                                                 transport::Transport& control);

// The name that the average of a parameter has in a saved state (kAverage).
[[nodiscard]] std::string name_of_average(const std::string& parameter);

// Whether a tensor of a saved state is a parameter or buffer of the network, and not state of the
// training.
[[nodiscard]] bool is_of_the_network(const std::string& name);

// Finds a tensor of a saved state by its name; nullopt if the state has no such tensor. The tensor
// is in host memory. May be called from the threads of all workers at once.
using FindTensor = std::function<std::optional<at::Tensor>(const std::string& name)>;

// Sets parameters and buffers of this worker's stages to the tensors that `find` returns for their
// names. A parameter or buffer for which it returns nullopt keeps its value. Must be called by all
// workers, before the first segment. Throws BadFile if a tensor has another shape or type.
void load_weights(Worker& worker, const FindTensor& find);

// Exchanges the newest weights of this worker's stages with their averages (kAverage), in place: to
// evaluate or to give away the averages, and, called once more, to go on training. A parameter
// without average keeps its weights. Must be called between two segments.
void swap_with_averages(Worker& worker);

// Sets the state of this worker's stages to a saved one. Must be called by all workers, before the
// first segment.
// `rules` are those of the segments to come. If a replica's own buffers are not in the state, it
// takes those of replica 0. Throws BadFile if a parameter or buffer is missing or has another shape
// or type, or if a parameter has only a part of its optimiser state.
void load_state(Worker& worker, const schedule::Rules& rules, const FindTensor& find,
                transport::Transport& control);

}  // namespace pipedream::runtime
