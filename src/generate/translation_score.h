// How good a network's translations are: BLEU of greedy decoding (docs/training.md: Evaluation).
#pragma once

#include <functional>

#include "data/data_set.h"
#include "generate/generate.h"
#include "text/bleu.h"

namespace pipedream::generate {

// What is translated and compared.
struct ScoredTranslations {
  const data::DataSet& data;           // of a network that translates
  const text::Vocabulary& vocabulary;  // of `data`
  std::int64_t samples = 0;            // the first ones of `data`
  std::int64_t batch = 1;              // sentences that are translated at a time
};

// Translates the sources and compares the texts with the labels. `progress` is called with the
// sentences done.
[[nodiscard]] text::BleuSums score_translations(
    Predictor& predictor, const data::Translation& task, const ScoredTranslations& of,
    const std::function<void(std::int64_t done)>& progress);

}  // namespace pipedream::generate
