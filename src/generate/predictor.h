// What a trained network predicts for each word of a text, outside of training
// (docs/training.md: Generating).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "model/whole_model.h"

namespace pipedream::generate {

// Finds a parameter or buffer by its name; nullopt if there is none of that name.
using FindTensor = std::function<std::optional<at::Tensor>(const std::string& name)>;

// A network with trained weights on one device. Used from one thread.
class Predictor {
 public:
  // `network` must outlive the predictor. Throws CannotMeet if its loss does not compare scores of
  // words with words, position by position, and BadFile if `weights` lacks a tensor.
  Predictor(const model::Network& network, const FindTensor& weights, at::Device device,
            model::Precision precision = model::Precision::kFloat);

  // Returns the scores [N, T, words] of the next word at each position, as floats on the CPU.
  // `inputs` has class numbers by the name of the network's input, [N, …] each. N is at most the
  // network's batch. Inputs that are not given are zeros.
  [[nodiscard]] at::Tensor scores(const std::map<std::string, at::Tensor>& inputs);

 private:
  model::WholeModel model_;
  ValueId scores_;
};

}  // namespace pipedream::generate
