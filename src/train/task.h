// What a network is to learn, as far as its inputs tell: their names, shapes, types and bounds.
// Data sets go by this and know no network by name.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "model/network.h"

namespace pipedream::train {

// One label per sample. Values are real: features [N, F] or images [N, channels, height, width].
struct Classification {
  model::InputSpec values;
  model::InputSpec labels;  // [N]
};

// At each place of a text its next token. Both are [N, T].
struct LanguageModel {
  model::InputSpec tokens;
  model::InputSpec labels;
};

// A sentence of one language into one of another: all are [N, T]. At each place the decoder reads
// the target's word before it.
struct Translation {
  model::InputSpec source;
  model::InputSpec target;
  model::InputSpec labels;
};

// A sentence about a film: real frames [N, frames, features]; words as in a translation.
struct Captioning {
  model::InputSpec frames;
  model::InputSpec words;
  model::InputSpec labels;
};

using Task = std::variant<Classification, LanguageModel, Translation, Captioning>;

// Nullopt for inputs that are none of these.
[[nodiscard]] std::optional<Task> task_of(const model::Network& network);

// "image [64, 3, 224, 224], labels [64] below 1000", for messages.
[[nodiscard]] std::string inputs_text(const model::Network& network);

}  // namespace pipedream::train
