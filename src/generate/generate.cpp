#include "generate/generate.h"

#include <algorithm>

#include <ATen/ops/max.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "core/check.h"

namespace pipedream::generate {

namespace {

std::int64_t end_of(const Range& range) { return range.first + range.count; }

// The word of `writable`, or the end, with the highest score, in each row of `scores`.
at::Tensor best_of(const at::Tensor& scores, const Range& writable, const Ends& ends) {
  const auto [best, place] = scores.slice(1, writable.first, end_of(writable)).max(1);
  return at::where(scores.select(1, ends.end) >= best, ends.end, place + writable.first);
}

}  // namespace

void continue_text(Predictor& predictor, const data::LanguageModel& task, Words text,
                   std::int64_t count, const Sampling& sampling, const Range& writable,
                   const std::function<void(std::int64_t word)>& on_word) {
  PD_CHECK(!text.empty());
  const std::int64_t window = task.tokens.shape[1];
  const at::Tensor tokens = at::zeros({1, window}, at::kLong);
  for (std::int64_t made = 0; made < count; ++made) {
    const std::int64_t seen = std::min(window, static_cast<std::int64_t>(text.size()));
    std::copy(text.end() - seen, text.end(), tokens.mutable_data_ptr<std::int64_t>());
    const at::Tensor scores = predictor.scores({{task.tokens.name, tokens}});
    const at::Tensor of_writable = scores[0][seen - 1].slice(0, writable.first, end_of(writable));
    const std::int64_t word = writable.first + choose(of_writable, sampling, made);
    text.push_back(word);
    on_word(word);
  }
}

std::vector<Words> translate(Predictor& predictor, const data::Translation& task,
                             const at::Tensor& source, const Range& writable, const Ends& ends) {
  const std::int64_t sentences = source.size(0);
  const std::int64_t length = task.target.shape[1];
  at::Tensor target = at::zeros({sentences, length}, at::kLong);
  target.select(1, 0).fill_(ends.begin);
  std::vector<Words> made(static_cast<std::size_t>(sentences));
  std::vector<bool> done(made.size());
  for (std::int64_t place = 0; place < length; ++place) {
    const at::Tensor scores =
        predictor.scores({{task.source.name, source}, {task.target.name, target}});
    const at::Tensor next = best_of(scores.select(1, place), writable, ends);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto word = next[static_cast<std::int64_t>(i)].item<std::int64_t>();
      done[i] = done[i] || word == ends.end;
      if (!done[i]) made[i].push_back(word);
    }
    if (std::find(done.begin(), done.end(), false) == done.end()) break;
    if (place + 1 < length) target.select(1, place + 1).copy_(next);
  }
  return made;
}

}  // namespace pipedream::generate
