#include "data/synthetic.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/match.h"
#include "data/prototypes.h"
#include "data/sentences.h"
#include "data/stacked.h"
#include "data/streams.h"
#include "data/task.h"

namespace pipedream::data {
namespace {

using model::InputSpec;
using Words = std::vector<std::int64_t>;

// Which of the two data sets. Both number their samples from 0. The part is in the random key, so
// that samples of the same number have different random numbers.
enum class Split { kTraining, kHeldOut };

// What the data sets of all tasks have in common.
class Synthetic : public DataSet {
 public:
  Synthetic(Split part, std::uint64_t seed) : part_(part), seed_(seed) {}
  std::int64_t samples() const override {
    return part_ == Split::kTraining ? kSyntheticTraining : kSyntheticHeldOut;
  }

 protected:
  [[nodiscard]] RandomKey key(std::int64_t stream, std::int64_t sample) const {
    return {.seed = seed_,
            .layer = stream,
            .minibatch = sample,
            .microbatch = static_cast<std::int32_t>(part_)};
  }

 private:
  Split part_;
  std::uint64_t seed_;
};

model::Shape sample_shape(const InputSpec& input) {
  return {input.shape.begin() + 1, input.shape.end()};
}

// Writes what a decoder reads: the word kBegin, then all words but the last.
constexpr std::int64_t kBegin = 0;
void copy_shifted(std::span<const std::int64_t> words, std::span<std::int64_t> shifted) {
  shifted[0] = kBegin;
  std::copy(words.begin(), words.end() - 1, shifted.begin() + 1);
}

class Classes final : public Synthetic {
 public:
  Classes(const Classification& task, Split part, std::uint64_t seed)
      : Synthetic(part, seed),
        labels_(task.labels.name),
        classes_(std::min(task.labels.bound, kSyntheticClasses)),
        prototypes_(classes_, sample_shape(task.values), seed) {}

  at::Tensor load(const InputSpec& input, std::span<const std::int64_t> samples) const override {
    if (input.name == labels_)
      return stacked<std::int64_t>(
          input, samples, [&](std::int64_t sample, auto out) { out[0] = sample % classes_; });
    return stacked<float>(input, samples, [&](std::int64_t sample, auto out) {
      prototypes_.draw(sample % classes_, key(kNoiseStream, sample), out);
    });
  }

 private:
  std::string labels_;
  std::int64_t classes_;
  Prototypes prototypes_;
};

class Texts final : public Synthetic {
 public:
  Texts(const LanguageModel& task, Split part, std::uint64_t seed)
      : Synthetic(part, seed),
        labels_(task.labels.name),
        sentences_(std::min({task.tokens.bound, task.labels.bound, kSyntheticWords}), seed) {}

  at::Tensor load(const InputSpec& input, std::span<const std::int64_t> samples) const override {
    const std::size_t begin = input.name == labels_ ? 1 : 0;
    Words text(static_cast<std::size_t>(input.shape[1]) + 1);
    return stacked<std::int64_t>(input, samples, [&](std::int64_t sample, auto out) {
      sentences_.draw(key(kSentenceStream, sample), text);
      std::copy_n(text.data() + begin, out.size(), out.begin());
    });
  }

 private:
  std::string labels_;
  Sentences sentences_;
};

class Translations final : public Synthetic {
 public:
  Translations(const Translation& task, Split part, std::uint64_t seed)
      : Synthetic(part, seed),
        source_(task.source),
        target_(task.target.name),
        words_(std::min({source_.bound, task.target.bound, task.labels.bound, kSyntheticWords})),
        sentences_(words_, seed),
        meaning_(shuffled_words(words_, seed, kMeaningStream)) {}

  at::Tensor load(const InputSpec& input, std::span<const std::int64_t> samples) const override {
    // If source and target have different lengths, the last words of the longer sentence have no
    // counterpart in the other.
    Words sentence(static_cast<std::size_t>(std::max(source_.shape[1], input.shape[1])));
    return stacked<std::int64_t>(input, samples, [&](std::int64_t sample, auto out) {
      sentences_.draw(key(kSentenceStream, sample), sentence);
      if (input.name != source_.name)
        for (std::int64_t& word : sentence) word = meaning_[static_cast<std::size_t>(word)];
      const auto words = std::span(sentence).first(out.size());
      if (input.name == target_)
        copy_shifted(words, out);
      else
        std::copy(words.begin(), words.end(), out.begin());
    });
  }

 private:
  InputSpec source_;
  std::string target_;
  std::int64_t words_;
  Sentences sentences_;
  Words meaning_;  // the translation of each source word
};

class Captions final : public Synthetic {
 public:
  Captions(const Captioning& task, Split part, std::uint64_t seed)
      : Synthetic(part, seed),
        frames_(task.frames.name),
        words_(task.words.name),
        prototypes_(kTopics, sample_shape(task.frames), seed) {
    const Sentences language(std::min({task.words.bound, task.labels.bound, kSyntheticWords}),
                             seed);
    for (std::int64_t topic = 0; topic < kTopics; ++topic) {
      captions_.emplace_back(static_cast<std::size_t>(task.labels.shape[1]));
      language.draw({.seed = seed, .layer = kMeaningStream, .minibatch = topic}, captions_.back());
    }
  }

  at::Tensor load(const InputSpec& input, std::span<const std::int64_t> samples) const override {
    if (input.name == frames_)
      return stacked<float>(input, samples, [&](std::int64_t sample, auto out) {
        prototypes_.draw(sample % kTopics, key(kNoiseStream, sample), out);
      });
    return stacked<std::int64_t>(input, samples, [&](std::int64_t sample, auto out) {
      const Words& caption = captions_[static_cast<std::size_t>(sample % kTopics)];
      if (input.name == words_)
        copy_shifted(caption, out);
      else
        std::copy(caption.begin(), caption.end(), out.begin());
    });
  }

 private:
  static constexpr std::int64_t kTopics = 16;  // topics of films, each with its pattern and caption

  std::string frames_;
  std::string words_;
  Prototypes prototypes_;
  std::vector<Words> captions_;  // by topic
};

// Made-up samples for any other inputs. Samples of one topic are alike in all inputs, so that a
// target can be learnt from the others. Real numbers are from 0 to 1, so that they may also be
// shares, as binary cross-entropy wants them.
class Anything final : public Synthetic {
 public:
  Anything(const model::Network& network, Split part, std::uint64_t seed) : Synthetic(part, seed) {
    for (const InputSpec& input : network.inputs) {
      if (input.bound == 0)
        patterns_.emplace(
            input.name,
            Prototypes(kTopics, input.shape.size() > 1 ? sample_shape(input) : model::Shape{1},
                       seed));
      else if (input.shape.size() == 2 && input.bound > 1)
        sentences_.emplace(input.name, Sentences(std::min(input.bound, kSyntheticWords), seed));
    }
  }

  at::Tensor load(const InputSpec& input, std::span<const std::int64_t> samples) const override {
    if (const auto pattern = patterns_.find(input.name); pattern != patterns_.end())
      return stacked<float>(input, samples, [&](std::int64_t sample, auto out) {
        pattern->second.draw(sample % kTopics, key(kNoiseStream, sample), out);
        for (float& value : out) value = std::clamp(kMiddle + kContrast * value, 0.0F, 1.0F);
      });
    const auto sentences = sentences_.find(input.name);
    return stacked<std::int64_t>(input, samples, [&](std::int64_t sample, auto out) {
      if (sentences != sentences_.end())
        return sentences->second.draw(key(kSentenceStream, sample % kTopics), out);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = (sample % kTopics + static_cast<std::int64_t>(i)) % input.bound;
    });
  }

 private:
  static constexpr std::int64_t kTopics = 16;
  // Prototypes draw numbers around 0, with a standard deviation of about 1.
  static constexpr float kMiddle = 0.5F;
  static constexpr float kContrast = 0.2F;

  std::map<std::string, Prototypes> patterns_;  // of inputs of real numbers, by name
  std::map<std::string, Sentences> sentences_;  // of inputs of words, by name
};

std::unique_ptr<const DataSet> make(const Task& task, Split part, std::uint64_t seed) {
  using Made = std::unique_ptr<const DataSet>;
  return std::visit(
      Match{
          [&](const Classification& t) -> Made { return std::make_unique<Classes>(t, part, seed); },
          [&](const LanguageModel& t) -> Made { return std::make_unique<Texts>(t, part, seed); },
          [&](const Translation& t) -> Made {
            return std::make_unique<Translations>(t, part, seed);
          },
          [&](const Captioning& t) -> Made { return std::make_unique<Captions>(t, part, seed); }},
      task);
}

}  // namespace

Data open_synthetic(const model::Network& network, std::uint64_t seed) {
  const auto task = task_of(network);
  if (!task)
    return {std::make_unique<Anything>(network, Split::kTraining, seed),
            std::make_unique<Anything>(network, Split::kHeldOut, seed)};
  return {make(*task, Split::kTraining, seed), make(*task, Split::kHeldOut, seed)};
}

}  // namespace pipedream::data
