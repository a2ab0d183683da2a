#include "data/batches.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "core/philox.h"
#include "data/permutation.h"
#include "data/streams.h"

namespace pipedream::data {

Batches::Batches(std::int64_t samples, std::int64_t batch, std::uint64_t seed, bool shuffle,
                 std::int64_t in_all, const StreamStart& start)
    : samples_(samples),
      batch_(batch),
      seed_(seed),
      shuffle_(shuffle),
      in_all_(in_all),
      start_(start) {
  PD_CHECK(samples >= 1 && batch >= 1 && in_all >= 1);
  PD_CHECK(start.epoch >= 0 && start.used >= 0 && start.used < samples);
}

std::int64_t Batches::per_epoch() const { return (samples_ - 1) / batch_ + 1; }

std::int64_t Batches::epoch_of(std::int64_t minibatch) const {
  const std::int64_t after_first = minibatch - in_first();
  return after_first < 0 ? start_.epoch : start_.epoch + 1 + after_first / per_epoch();
}

std::int64_t Batches::first_of(std::int64_t epoch) const {
  PD_CHECK(epoch >= start_.epoch);
  return epoch == start_.epoch ? 0 : in_first() + (epoch - start_.epoch - 1) * per_epoch();
}

std::int64_t Batches::samples_until(std::int64_t minibatches) const {
  const std::int64_t after_first = minibatches - in_first();
  if (after_first <= 0) return std::min({in_all_, first_samples(), minibatches * batch_});
  const std::int64_t begun = std::min(samples_, after_first % per_epoch() * batch_);
  return std::min(in_all_, first_samples() + after_first / per_epoch() * samples_ + begun);
}

std::int64_t Batches::minibatches_until(std::int64_t samples) const {
  const std::int64_t after_first = samples - first_samples();
  if (after_first <= 0) return (samples + batch_ - 1) / batch_;
  return in_first() + after_first / samples_ * per_epoch() +
         (after_first % samples_ + batch_ - 1) / batch_;
}

std::int64_t Batches::samples_in(std::int64_t minibatch) const {
  return samples_until(minibatch + 1) - samples_until(minibatch);
}

std::vector<std::int64_t> Batches::samples_of(std::int64_t minibatch, std::int64_t first,
                                              std::int64_t count) const {
  PD_CHECK(minibatch >= 0 && first >= 0 && count >= 0 && first + count <= samples_in(minibatch));
  const std::int64_t epoch = epoch_of(minibatch);
  const std::int64_t used = epoch == start_.epoch ? start_.used : 0;
  std::vector<std::int64_t> samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), used + (minibatch - first_of(epoch)) * batch_ + first);
  if (!shuffle_) return samples;
  const Permutation shuffled(samples_,
                             folded({.seed = seed_, .layer = kShuffleStream, .minibatch = epoch}));
  for (std::int64_t& sample : samples) sample = shuffled(sample);
  return samples;
}

}  // namespace pipedream::data
