// Data sets of tokens in a row, for language models (data/text.h, data/tokens.h).
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "data/data_set.h"
#include "data/stacked.h"
#include "data/task.h"

namespace pipedream::data {

// The network reads T tokens per sample: sample i begins at position i·T, its labels at position
// i·T + 1. Token is an unsigned type.
template <class Token>
class TokenSet final : public DataSet {
 public:
  // `owner` keeps the memory of `tokens`.
  TokenSet(std::span<const Token> tokens, std::shared_ptr<const void> owner,
           const LanguageModel& task)
      : tokens_(tokens),
        owner_(std::move(owner)),
        labels_(task.labels.name),
        window_(task.tokens.shape[1]) {}

  std::int64_t samples() const override {
    return (static_cast<std::int64_t>(tokens_.size()) - 1) / window_;
  }

  at::Tensor load(const model::InputSpec& input,
                  std::span<const std::int64_t> samples) const override {
    const std::int64_t shift = input.name == labels_ ? 1 : 0;
    return stacked<std::int64_t>(input, samples, [&](std::int64_t sample, auto out) {
      std::copy_n(tokens_.begin() + sample * window_ + shift, out.size(), out.begin());
    });
  }

 private:
  std::span<const Token> tokens_;
  std::shared_ptr<const void> owner_;
  std::string labels_;
  std::int64_t window_;
};

// The language model that the network is. Throws CannotMeet, beginning with `what`, if it is none.
[[nodiscard]] LanguageModel language_model(const model::Network& network, const std::string& what);

// Throws CannotMeet if `tokens` tokens are too few for one sample. `part` names them, `kind` is
// what the file has: "characters" or "tokens".
void want_enough(std::size_t tokens, const std::string& part, const std::string& kind,
                 const LanguageModel& task);

// Throws CannotMeet if the network has fewer tokens, `known`, than the data. `found` says what the
// data has.
void want_vocabulary(std::int64_t wanted, const std::string& found, std::int64_t known,
                     const model::Network& network);
void want_vocabulary(std::int64_t wanted, const std::string& found, const LanguageModel& task,
                     const model::Network& network);

}  // namespace pipedream::data
