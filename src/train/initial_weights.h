// Weights that a training begins with instead of random ones (fine-tuning).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/network.h"
#include "runtime/state.h"
#include "train/resume.h"

namespace pipedream::train {

// Which weights a training begins with.
struct InitialWeights {
  std::filesystem::path file;  // safetensors; empty: all weights are random
  // Beginnings of names. Tensors of the network with such a name stay random, and those of the file
  // are ignored, whatever their shape: a new head for other classes.
  std::vector<std::string> fresh;
  bool may_be_fresh = true;  // whether the user can choose `fresh`: then a message says so
};

// Opens the file and finds its tensors by name, in the types of the network. Throws CannotMeet,
// with a list of all that is wrong, if a tensor of the network is missing, if one has another shape
// or is not of a real type where the network's is, if the file has a tensor that the network does
// not know (PyTorch's num_batches_tracked are ignored), and if a beginning in `fresh` fits no name.
// Throws IoError or BadFile if the file cannot be read.
[[nodiscard]] runtime::FindTensor find_weights(const model::Network& network,
                                               const InitialWeights& wanted);

// Throws CannotMeet, with a list of all that is wrong, if the tensors of the checkpoint are not
// those of the network, so that it cannot go on from there.
void want_fitting(const model::Network& network, const SoundCheckpoint& checkpoint);

}  // namespace pipedream::train
