// Which samples make which minibatch: the one stream that all workers of a run share.
#pragma once

#include <cstdint>
#include <vector>

namespace pipedream::train {

// Minibatches count through all epochs. Each epoch has every sample once, in an order of its own
// when shuffled; its last minibatch may be short. Pure: every worker has its own and they all
// agree, and nothing is stored, so any minibatch is found at once when training resumes.
class Batches {
 public:
  // `batch` is the number of samples in a minibatch; both numbers are at least 1. With `in_all` the
  // stream ends after so many samples, with a short minibatch if need be.
  Batches(std::int64_t samples, std::int64_t batch, std::uint64_t seed, bool shuffle,
          std::int64_t in_all = INT64_MAX);

  [[nodiscard]] std::int64_t per_epoch() const;  // minibatches
  // How many samples the first `minibatches` have, and how many minibatches have that many.
  [[nodiscard]] std::int64_t samples_until(std::int64_t minibatches) const;
  [[nodiscard]] std::int64_t minibatches_until(std::int64_t samples) const;
  [[nodiscard]] std::int64_t samples_in(std::int64_t minibatch) const;  // how many

  // Samples number `first` … `first` + `count` − 1 of a minibatch, which has that many.
  [[nodiscard]] std::vector<std::int64_t> samples_of(std::int64_t minibatch, std::int64_t first,
                                                     std::int64_t count) const;
  [[nodiscard]] std::vector<std::int64_t> samples_of(std::int64_t minibatch) const {
    return samples_of(minibatch, 0, samples_in(minibatch));
  }

 private:
  std::int64_t samples_;
  std::int64_t batch_;
  std::uint64_t seed_;
  bool shuffle_;
  std::int64_t in_all_;
};

}  // namespace pipedream::train
