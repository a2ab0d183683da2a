// How the learning rate changes while a training goes on: warm-up, decay, and the size of updates
// (docs/training.md#learning-rate).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pipedream::train {

// A part of a training, counted in updates or in epochs.
struct Span {
  double count = 1;
  bool in_epochs = false;
};
// Reads "500" (updates) or "2epochs". Throws BadValue.
[[nodiscard]] Span parse_span(const std::string& text);

// How the learning rate falls.
struct Decay {
  enum class Kind { kNone, kCosine, kStep };
  Kind kind = Kind::kNone;
  double end = 0;       // kCosine: what is left of the learning rate at the end of the training
  Span every{};         // kStep: after each such span …
  double factor = 0.1;  // kStep: … the learning rate is multiplied by this
};
// Reads "none", "cosine", "cosine:0.1" or "step:30epochs:0.1". Throws BadValue.
[[nodiscard]] Decay parse_decay(const std::string& text);

struct RateOptions {
  std::optional<Span> warm_up;
  Decay decay;
  // Whether the learning rate is multiplied by the samples of an update divided by Recipe::batch.
  bool scales = false;
};

// What a rate depends on besides its options.
struct RateFacts {
  std::int64_t epoch = 1;        // samples of an epoch
  std::int64_t all = 1;          // samples of the whole training
  double update = 1;             // samples of an update of the first stage
  std::int64_t batch = 1;        // Recipe::batch
  std::int64_t minibatches = 1;  // minibatches of `batch` samples in one of the schedule
};

// The factor on the learning rate at each point of a training. It depends on the number of samples
// trained before, so that it means the same for systems with large and with small updates, and for
// stages of different numbers of replicas. Immutable.
class RateCurve {
 public:
  RateCurve(const RateOptions& options, const RateFacts& facts);

  // For an update that averages over `minibatches` minibatches of the schedule, when `samples`
  // samples were trained before the first of them.
  [[nodiscard]] double operator()(std::int64_t samples, std::int64_t minibatches) const;
  // For a whole update of the first stage.
  [[nodiscard]] double of_first_stage(std::int64_t samples) const;

 private:
  // `batches`: how many times Recipe::batch samples an update has.
  [[nodiscard]] double factor(double samples, double batches) const;
  [[nodiscard]] double samples_of(const Span& span) const;
  [[nodiscard]] double warmth(double samples) const;
  [[nodiscard]] double decayed(double samples) const;

  RateOptions options_;
  RateFacts facts_;
  double warm_up_;  // samples
};

}  // namespace pipedream::train
