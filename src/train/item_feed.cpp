#include "train/item_feed.h"

#include "core/even_part.h"

namespace pipedream::train {

std::int64_t ItemFeed::minibatch_samples(std::int64_t minibatch) const {
  return batches_.samples_in(first_ + minibatch);
}

std::int64_t ItemFeed::samples_before(std::int64_t minibatch) const {
  return trained_ + batches_.samples_until(first_ + minibatch);
}

std::int64_t ItemFeed::samples(const schedule::Item& item) const {
  return even_part(minibatch_samples(item.minibatch), item.microbatch,
                   extent_.microbatches_of(item.minibatch))
      .count;
}

at::Tensor ItemFeed::load(const model::InputSpec& input, const schedule::Item& item,
                          std::int64_t first, std::int64_t count) const {
  const Range range = even_part(minibatch_samples(item.minibatch), item.microbatch,
                                extent_.microbatches_of(item.minibatch));
  const std::int64_t minibatch = first_ + item.minibatch;
  return data_.load_for_epoch(batches_.epoch_of(minibatch), input,
                              batches_.samples_of(minibatch, range.first + first, count));
}

}  // namespace pipedream::train
