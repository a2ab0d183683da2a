#include "report/score_words.h"

#include <fmt/format.h>

#include "report/table.h"

namespace pipedream::report {

std::string score_words(const ScoreFigures& figures) {
  std::string text = four_decimals(figures.loss);
  if (figures.accuracy) text += fmt::format(", {} right", percent(*figures.accuracy));
  if (figures.top5) text += fmt::format(" ({} among the first five)", percent(*figures.top5));
  if (figures.perplexity) text += fmt::format(", perplexity {:.1f}", *figures.perplexity);
  return text;
}

}  // namespace pipedream::report
