#include "train/batches.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "core/philox.h"
#include "train/permutation.h"
#include "train/streams.h"

namespace pipedream::train {

Batches::Batches(std::int64_t samples, std::int64_t batch, std::uint64_t seed, bool shuffle,
                 std::int64_t in_all)
    : samples_(samples), batch_(batch), seed_(seed), shuffle_(shuffle), in_all_(in_all) {
  PD_CHECK(samples >= 1 && batch >= 1 && in_all >= 1);
}

std::int64_t Batches::per_epoch() const { return (samples_ - 1) / batch_ + 1; }

std::int64_t Batches::samples_until(std::int64_t minibatches) const {
  const std::int64_t begun = std::min(samples_, minibatches % per_epoch() * batch_);
  return std::min(in_all_, minibatches / per_epoch() * samples_ + begun);
}

std::int64_t Batches::minibatches_until(std::int64_t samples) const {
  return samples / samples_ * per_epoch() + (samples % samples_ + batch_ - 1) / batch_;
}

std::int64_t Batches::samples_in(std::int64_t minibatch) const {
  return samples_until(minibatch + 1) - samples_until(minibatch);
}

std::vector<std::int64_t> Batches::samples_of(std::int64_t minibatch, std::int64_t first,
                                              std::int64_t count) const {
  PD_CHECK(minibatch >= 0 && first >= 0 && count >= 0 && first + count <= samples_in(minibatch));
  std::vector<std::int64_t> samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), minibatch % per_epoch() * batch_ + first);
  if (!shuffle_) return samples;
  const std::int64_t epoch = minibatch / per_epoch();
  const Permutation shuffled(samples_,
                             folded({.seed = seed_, .layer = kShuffleStream, .minibatch = epoch}));
  for (std::int64_t& sample : samples) sample = shuffled(sample);
  return samples;
}

}  // namespace pipedream::train
