// Which samples form which minibatch: one stream of minibatches, the same for all workers of a run
// (docs/runtime.md, epochs).
#pragma once

#include <cstdint>
#include <vector>

namespace pipedream::data {

// Where a stream of minibatches begins: in epoch `epoch`, after `used` samples of that epoch.
struct StreamStart {
  std::int64_t epoch = 0;
  std::int64_t used = 0;
};

// Minibatches are numbered from 0 at the beginning of the stream, through all epochs. Each epoch
// has every sample once, in its own order if the samples are shuffled. The stream's first epoch has
// only the samples that were not used before the stream began. The last minibatch of an epoch may
// be short.
//
// Immutable, so safe to use from several threads. All answers depend on the constructor's arguments
// alone, so workers with their own copies agree. Nothing is stored per minibatch or epoch, so any
// minibatch is found at once.
class Batches {
 public:
  // `samples` is the size of the data set, `batch` the number of samples in a full minibatch. The
  // stream ends after `in_all` samples, with a short minibatch if necessary. All three are ≥ 1, and
  // `start.used` is less than `samples`.
  Batches(std::int64_t samples, std::int64_t batch, std::uint64_t seed, bool shuffle,
          std::int64_t in_all = INT64_MAX, const StreamStart& start = {});

  // Minibatches in one whole epoch.
  [[nodiscard]] std::int64_t per_epoch() const;
  // The epoch of a minibatch, counted from the training's first.
  [[nodiscard]] std::int64_t epoch_of(std::int64_t minibatch) const;
  // The number of the first minibatch that the stream has of an epoch. Requires that the stream
  // does not begin after that epoch.
  [[nodiscard]] std::int64_t first_of(std::int64_t epoch) const;
  // How many samples the first `minibatches` minibatches have together.
  [[nodiscard]] std::int64_t samples_until(std::int64_t minibatches) const;
  // How many minibatches from number 0 on it takes to have at least `samples` samples. `samples` is
  // at most `in_all`.
  [[nodiscard]] std::int64_t minibatches_until(std::int64_t samples) const;
  // How many samples a minibatch has; 0 after the end of the stream.
  [[nodiscard]] std::int64_t samples_in(std::int64_t minibatch) const;

  // The samples at positions [first, first + count) of a minibatch, as numbers in the data set.
  // Requires first + count ≤ samples_in(minibatch).
  [[nodiscard]] std::vector<std::int64_t> samples_of(std::int64_t minibatch, std::int64_t first,
                                                     std::int64_t count) const;
  // All samples of a minibatch.
  [[nodiscard]] std::vector<std::int64_t> samples_of(std::int64_t minibatch) const {
    return samples_of(minibatch, 0, samples_in(minibatch));
  }

 private:
  // Samples of the stream's first epoch, and minibatches that they make.
  [[nodiscard]] std::int64_t first_samples() const { return samples_ - start_.used; }
  [[nodiscard]] std::int64_t in_first() const { return (first_samples() - 1) / batch_ + 1; }

  std::int64_t samples_;
  std::int64_t batch_;
  std::uint64_t seed_;
  bool shuffle_;
  std::int64_t in_all_;
  StreamStart start_;
};

}  // namespace pipedream::data
