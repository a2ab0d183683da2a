#include "text/encoder.h"

#include <queue>

#include "text/chain.h"
#include "text/words.h"

namespace pipedream::text {
namespace {

// Longer words, and more words than that, are not worth their memory.
constexpr std::size_t kLongestKnown = 64;
constexpr std::size_t kMostKnown = 1 << 20;

// A merge that can be applied at a position of a word. The merge that was learned first comes
// first, and of several places of one merge, the leftmost one.
struct Chance {
  Token merged;
  std::uint32_t at;
  friend bool operator>(const Chance& a, const Chance& b) {
    return a.merged != b.merged ? a.merged > b.merged : a.at > b.at;
  }
};

std::vector<Token> tokens_of_word(const Vocabulary& vocabulary, std::string_view word) {
  Chain chain;
  chain.add_word(word);
  std::priority_queue<Chance, std::vector<Chance>, std::greater<>> chances;
  const auto consider = [&](std::uint32_t left) {
    if (left == Chain::kNone || chain.after(left) == Chain::kNone) return;
    if (const auto merged = vocabulary.merged(chain[left], chain[chain.after(left)]))
      chances.push({*merged, left});
  };
  for (std::uint32_t at = 0; at < word.size(); ++at) consider(at);
  while (!chances.empty()) {
    const Chance next = chances.top();
    chances.pop();
    const Merge& merge = vocabulary.merges()[next.merged - kFirstMerge];
    if (!chain.has(next.at, merge)) continue;  // another merge has taken one of the two
    chain.merge(next.at, next.merged);
    consider(chain.before(next.at));
    consider(next.at);
  }
  std::vector<Token> tokens;
  for (std::uint32_t at = 0; at != Chain::kNone; at = chain.after(at)) tokens.push_back(chain[at]);
  return tokens;
}

}  // namespace

void Encoder::append(std::string_view text, std::vector<Token>& tokens) {
  for_each_word(text, [&](std::string_view word) {
    const auto add = [&](const std::vector<Token>& of_word) {
      tokens.insert(tokens.end(), of_word.begin(), of_word.end());
    };
    const auto known = known_.find(word);
    if (known != known_.end()) return add(known->second);
    std::vector<Token> of_word = tokens_of_word(vocabulary_, word);
    add(of_word);
    if (word.size() <= kLongestKnown && known_.size() < kMostKnown)
      known_.emplace(word, std::move(of_word));
  });
}

}  // namespace pipedream::text
