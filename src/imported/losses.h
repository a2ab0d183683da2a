// The losses that training can minimise, and the layers that compute them from a model's output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/network_builder.h"
#include "pt2/program.h"

namespace pipedream::imported {

// The loss that training minimises.
enum class Loss {
  kCrossEntropy,   // of scores [N, classes, …] and class numbers [N, …]
  kMse,            // the mean squared difference of the output and a target of the same shape
  kLanguageModel,  // of scores [N, T, words] for each position, and the words that follow
  kNone            // the model returns its loss
};
[[nodiscard]] std::vector<std::string> loss_names();  // in the order of the enumerators
// Returns the loss called "cross-entropy", "mse", "language-model" or "none". Throws BadUsage for
// any other name.
[[nodiscard]] Loss loss_named(const std::string& name);
[[nodiscard]] std::string to_text(Loss loss);

// Returns the loss that fits what the program takes and returns.
[[nodiscard]] Loss fitting_loss(const pt2::Program& program);

// Returns the user's input whose words a language model with this output [N, T, words] predicts;
// null if there is none.
[[nodiscard]] const pt2::Input* words_predicted_by(const pt2::Program& program,
                                                   const pt2::Tensor& output);

// The network that gets a loss, and the values that the loss reads.
struct LossPlace {
  const pt2::Program& program;
  std::string file;  // for messages
  std::int64_t batch = 0;
  model::Wire output;                // the model's first output
  std::optional<model::Wire> words;  // the input that words_predicted_by() returns; nullopt if no
                                     // layer reads it
  model::NetworkBuilder& net;
};
// Adds the layers of the loss, and its target as an input of the network. Returns the loss. Throws
// CannotMeet if the model's output does not fit it.
[[nodiscard]] model::Wire add_loss(const LossPlace& place, Loss loss);
// Returns whether add_loss() may give a layer or an input this name.
[[nodiscard]] bool is_name_of_loss(std::string_view name);

}  // namespace pipedream::imported
