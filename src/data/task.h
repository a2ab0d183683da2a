// The kind of task a network is trained for, inferred from the names, shapes, types and bounds of
// its inputs. Data sets depend on the task and know no network by name. In the shapes below, N is
// the number of samples and T the number of words.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "model/network.h"

namespace pipedream::data {

// Predicts one label per sample.
struct Classification {
  model::InputSpec values;  // real: features [N, F] or images [N, channels, height, width]
  model::InputSpec labels;  // [N]
};

// Predicts the next token at each position of a text.
struct LanguageModel {
  model::InputSpec tokens;  // [N, T]
  // [N, T]: the token after each position. Without a name if the network has no such input, because
  // it compares its predictions with the tokens that it reads.
  model::InputSpec labels;
};

// Translates a sentence.
struct Translation {
  model::InputSpec source;  // [N, T]: the sentence to translate; its T may differ from the others'
  model::InputSpec target;  // [N, T]: what the decoder reads, `labels` shifted by one position
  model::InputSpec labels;  // [N, T]: the translation
};

// Describes a film by a sentence.
struct Captioning {
  model::InputSpec frames;  // real: [N, frames, features]
  model::InputSpec words;   // [N, T]: what the decoder reads, `labels` shifted by one position
  model::InputSpec labels;  // [N, T]: the sentence
};

using Task = std::variant<Classification, LanguageModel, Translation, Captioning>;

// The task that the network's inputs describe; nullopt if they fit none of the tasks.
[[nodiscard]] std::optional<Task> task_of(const model::Network& network);

// The network's inputs for messages: "image [64, 3, 224, 224], labels [64] below 1000".
[[nodiscard]] std::string inputs_text(const model::Network& network);

}  // namespace pipedream::data
