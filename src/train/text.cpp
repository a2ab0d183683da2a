#include "train/text.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "train/stacked.h"
#include "train/task.h"

namespace pipedream::train {
namespace {

using Tokens = std::vector<std::uint8_t>;

class TextSet final : public DataSet {
 public:
  TextSet(Tokens tokens, const LanguageModel& task)
      : tokens_(std::move(tokens)), labels_(task.labels.name), window_(task.tokens.shape[1]) {}

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
  Tokens tokens_;
  std::string labels_;
  std::int64_t window_;
};

// The bytes that occur in a file.
struct Alphabet {
  std::array<std::uint8_t, 256> rank{};  // of each byte, among the bytes that occur
  std::vector<unsigned char> bytes;      // that occur, in ascending order

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(bytes.size()); }
};

Alphabet alphabet_of(const std::string& text) {
  std::array<bool, 256> occurs{};
  for (const char c : text) occurs[static_cast<unsigned char>(c)] = true;
  Alphabet alphabet;
  for (std::size_t byte = 0; byte < occurs.size(); ++byte)
    if (occurs[byte]) {
      alphabet.rank[byte] = static_cast<std::uint8_t>(alphabet.bytes.size());
      alphabet.bytes.push_back(static_cast<unsigned char>(byte));
    }
  return alphabet;
}

Tokens tokens_of(const std::string& text, const Alphabet& alphabet) {
  Tokens tokens(text.size());
  std::transform(text.begin(), text.end(), tokens.begin(),
                 [&](char c) { return alphabet.rank[static_cast<unsigned char>(c)]; });
  return tokens;
}

void check_alphabet(const Alphabet& alphabet, const LanguageModel& task, bool is_exported,
                    const std::string& file) {
  const std::int64_t known = std::min(task.tokens.bound, task.labels.bound);
  if (alphabet.count() > known)
    throw CannotMeet(
        "the network knows " + std::to_string(known) + " tokens, " + file + " has " +
        std::to_string(alphabet.count()) + " different characters: " +
        (is_exported ? "export it with at least " + std::to_string(alphabet.count())
                     : "give it `vocabulary` " + std::to_string(alphabet.count()) + " or more"));
}

// `part` names the characters of the file that are trained on, or those that are held out.
void check_length(std::size_t characters, const std::string& part, const LanguageModel& task) {
  const std::int64_t window = task.tokens.shape[1];
  if (static_cast<std::int64_t>(characters) <= window)
    throw CannotMeet(part + " has " + std::to_string(characters) +
                     " characters, one sample of the network takes " + std::to_string(window) +
                     " and its next one: choose a longer file, shorter samples or another share "
                     "to hold out");
}

}  // namespace

Data open_text(const std::filesystem::path& file, const model::Network& network,
               double held_out_share) {
  const auto task = task_of(network);
  if (!task || !std::holds_alternative<LanguageModel>(*task))
    throw CannotMeet("text is for language models; '" + network.name + "' reads " +
                     inputs_text(network) + ": choose other data, or another network");
  const auto& language = std::get<LanguageModel>(*task);
  const std::string text = read_file(file);
  const auto held_out =
      static_cast<std::size_t>(share_of(static_cast<std::int64_t>(text.size()), held_out_share));
  const Alphabet alphabet = alphabet_of(text);
  check_alphabet(alphabet, language, network.facts.contains("program"), file.string());
  if (held_out_share > 0) check_length(held_out, "the held-out end of " + file.string(), language);
  check_length(text.size() - held_out, "the part of " + file.string() + " to train on", language);
  const Tokens tokens = tokens_of(text, alphabet);
  const auto end = tokens.end() - static_cast<std::ptrdiff_t>(held_out);
  return {std::make_unique<TextSet>(Tokens(tokens.begin(), end), language),
          std::make_unique<TextSet>(Tokens(end, tokens.end()), language),
          // The bytes that the tokens 0, 1, … stand for.
          {{"tokens", to_hex(std::string(alphabet.bytes.begin(), alphabet.bytes.end()))}}};
}

}  // namespace pipedream::train
