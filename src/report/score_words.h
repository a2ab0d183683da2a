// What a network scored on held-out data, in words.
#pragma once

#include <optional>
#include <string>

namespace pipedream::report {

// The figures of an evaluation. Those that the network does not have are not set.
struct ScoreFigures {
  double loss = 0;
  std::optional<double> accuracy{};  // share of right predictions
  std::optional<double> top5{};      // share of labels among the five most likely
  std::optional<double> perplexity{};
};

// Returns "0.0953, 97.1 % right (99.9 % among the first five)", or "4.1312, perplexity 62.3".
[[nodiscard]] std::string score_words(const ScoreFigures& figures);

}  // namespace pipedream::report
