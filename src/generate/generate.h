// Texts that a trained network writes, word after word, each from those before it
// (docs/training.md: Generating).
#pragma once

#include <functional>
#include <vector>

#include "core/even_part.h"
#include "data/task.h"
#include "generate/choice.h"
#include "generate/predictor.h"

namespace pipedream::generate {

using Words = std::vector<std::int64_t>;

// Continues `text`, which has at least one word, by `count` words of `writable`. The network sees
// the last words only, as many as it reads. `on_word` gets each new word as it is known.
void continue_text(Predictor& predictor, const data::LanguageModel& task, Words text,
                   std::int64_t count, const Sampling& sampling, const Range& writable,
                   const std::function<void(std::int64_t word)>& on_word);

// The words between which a translation stands.
struct Ends {
  std::int64_t begin = 1;  // what the decoder reads first
  std::int64_t end = 2;    // what it predicts after the last word
};

// Translates the sentences `source` [N, T]. Always takes the word of `writable`, or the end, with
// the highest score (greedy decoding). A translation is at most as long as the decoder's input.
// `Ends` are not part of it.
[[nodiscard]] std::vector<Words> translate(Predictor& predictor, const data::Translation& task,
                                           const at::Tensor& source, const Range& writable,
                                           const Ends& ends);

}  // namespace pipedream::generate
