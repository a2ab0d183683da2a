#include <queue>
#include <unordered_map>

#include "core/check.h"
#include "core/error.h"
#include "text/chain.h"
#include "text/vocabulary.h"
#include "text/words.h"

namespace pipedream::text {
namespace {

using Count = std::int64_t;

// Two tokens that follow each other.
struct Pair {
  Count count = 0;  // in all texts
  // Positions where the pair was once. Complete and ascending as soon as the younger token of the
  // pair is everywhere, because every merge makes only pairs with its own token.
  std::vector<std::uint32_t> at;
};

// A pair in the heap. Counts only fall after a pair has been put there, so the heap may have a
// larger count than the pair, never a smaller one.
struct Candidate {
  Count count;
  std::uint64_t pair;  // pair_key()
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.count != b.count ? a.count < b.count : a.pair > b.pair;
  }
};

// Learns merges. Each distinct word is there once, with the number of times it occurs.
class Learner {
 public:
  explicit Learner(std::span<const std::string_view> texts);
  // Returns the next merge after applying it; nullopt if there is none.
  std::optional<Merge> next();

 private:
  void add_word(std::string_view word, Count count);
  // Changes the count of the pair at `left` and its neighbour, if it has one, by that of its word.
  void note(std::uint32_t left);
  void forget(std::uint32_t left);
  void apply(const Merge& merge);
  void offer(std::uint64_t pair);
  [[nodiscard]] std::uint64_t pair_at(std::uint32_t left) const {
    return pair_key(chain_[left], chain_[chain_.after(left)]);
  }

  Chain chain_;
  std::vector<std::uint32_t> word_of_;  // by position
  std::vector<Count> counts_;           // by word
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::priority_queue<Candidate> candidates_;
  std::vector<std::uint64_t> new_pairs_;  // of the merge that is being applied
  std::vector<std::size_t> lengths_;      // of the tokens, in bytes
};

Learner::Learner(std::span<const std::string_view> texts) : lengths_(kFirstMerge, 1) {
  std::unordered_map<std::string_view, Count> words;
  for (const std::string_view text : texts)
    for_each_word(text, [&](std::string_view word) { ++words[word]; });
  std::size_t bytes = 0;
  for (const auto& [word, count] : words) bytes += word.size();
  if (bytes >= Chain::kNone)
    throw CannotMeet(
        "the text has more than 4 GiB of different words, which no vocabulary can be "
        "learned from: choose a part of it");
  word_of_.reserve(bytes);
  for (const auto& [word, count] : words) add_word(word, count);
  for (const auto& [key, pair] : pairs_) offer(key);
}

void Learner::add_word(std::string_view word, Count count) {
  const auto begin = static_cast<std::uint32_t>(chain_.size());
  chain_.add_word(word);
  word_of_.resize(chain_.size(), static_cast<std::uint32_t>(counts_.size()));
  counts_.push_back(count);
  for (std::uint32_t at = begin; at < chain_.size(); ++at) note(at);
}

void Learner::note(std::uint32_t left) {
  if (left == Chain::kNone || chain_.after(left) == Chain::kNone) return;
  const auto [pair, is_new] = pairs_.try_emplace(pair_at(left));
  if (is_new) new_pairs_.push_back(pair->first);
  pair->second.count += counts_[word_of_[left]];
  pair->second.at.push_back(left);
}

void Learner::forget(std::uint32_t left) {
  if (left == Chain::kNone || chain_.after(left) == Chain::kNone) return;
  const auto pair = pairs_.find(pair_at(left));
  pair->second.count -= counts_[word_of_[left]];
  if (pair->second.count == 0) pair->second.at = {};
}

void Learner::offer(std::uint64_t pair) {
  const Count count = pairs_.at(pair).count;
  if (count >= 2) candidates_.push({count, pair});
}

void Learner::apply(const Merge& merge) {
  const auto merged = static_cast<Token>(lengths_.size());
  lengths_.push_back(lengths_[merge.left] + lengths_[merge.right]);
  const auto found = pairs_.find(pair_key(merge.left, merge.right));
  const std::vector<std::uint32_t> places = std::move(found->second.at);
  new_pairs_.clear();
  for (const std::uint32_t at : places) {
    if (!chain_.has(at, merge)) continue;
    const std::uint32_t before = chain_.before(at);
    forget(before);
    forget(at);
    forget(chain_.after(at));
    chain_.merge(at, merged);
    note(before);
    note(at);
  }
  pairs_.erase(pair_key(merge.left, merge.right));
  for (const std::uint64_t pair : new_pairs_) offer(pair);
}

std::optional<Merge> Learner::next() {
  while (!candidates_.empty()) {
    const Candidate best = candidates_.top();
    candidates_.pop();
    if (pairs_.at(best.pair).count != best.count) {
      offer(best.pair);
      continue;
    }
    const Merge merge{static_cast<Token>(best.pair >> 32), static_cast<Token>(best.pair)};
    if (lengths_[merge.left] + lengths_[merge.right] > kLongestToken) continue;
    apply(merge);
    return merge;
  }
  return std::nullopt;
}

}  // namespace

Vocabulary learn_vocabulary(std::span<const std::string_view> texts, std::size_t tokens) {
  PD_CHECK(tokens >= kFirstMerge && tokens <= kMostTokens);
  Learner learner(texts);
  std::vector<Merge> merges;
  while (merges.size() + kFirstMerge < tokens) {
    const auto merge = learner.next();
    if (!merge) break;
    merges.push_back(*merge);
  }
  return Vocabulary(std::move(merges));
}

}  // namespace pipedream::text
