#include "data/token_set.h"

#include "core/error.h"

namespace pipedream::data {

LanguageModel language_model(const model::Network& network, const std::string& what) {
  const auto task = task_of(network);
  if (!task || !std::holds_alternative<LanguageModel>(*task))
    throw CannotMeet(what + " for language models; '" + network.name + "' reads " +
                     inputs_text(network) + ": choose other data, or another network");
  return std::get<LanguageModel>(*task);
}

void want_enough(std::size_t tokens, const std::string& part, const std::string& kind,
                 const LanguageModel& task) {
  const std::int64_t window = task.tokens.shape[1];
  if (static_cast<std::int64_t>(tokens) <= window)
    throw CannotMeet(part + " has " + std::to_string(tokens) + " " + kind +
                     ", one sample of the network takes " + std::to_string(window) +
                     " and its next one: choose a longer file, shorter samples or another share "
                     "to hold out");
}

void want_vocabulary(std::int64_t wanted, const std::string& found, const LanguageModel& task,
                     const model::Network& network) {
  want_vocabulary(wanted, found, std::min(task.tokens.bound, task.labels.bound), network);
}

void want_vocabulary(std::int64_t wanted, const std::string& found, std::int64_t known,
                     const model::Network& network) {
  if (wanted <= known) return;
  throw CannotMeet("the network knows " + std::to_string(known) + " tokens, " + found + ": " +
                   (network.facts.contains("program")
                        ? "export it with at least " + std::to_string(wanted)
                        : "give it `vocabulary` " + std::to_string(wanted) + " or more"));
}

}  // namespace pipedream::data
