// Hands the samples of a data set to a schedule, item by item (a minibatch or a microbatch).
#pragma once

#include "data/batches.h"
#include "data/data_set.h"
#include "runtime/feed.h"
#include "schedule/schedule.h"

namespace pipedream::train {

// The feed of one schedule. Keeps a reference to the data set, which must outlive it. Immutable, so
// safe to use from several threads.
class ItemFeed final : public runtime::Feed {
 public:
  // Minibatch 0 of the schedule is minibatch `first` of the stream `batches`. Each minibatch is cut
  // evenly into the number of microbatches that `extent` says. `trained`: samples that were trained
  // before the stream began.
  ItemFeed(const data::DataSet& data, const data::Batches& batches, const schedule::Extent& extent,
           std::int64_t first, std::int64_t trained = 0)
      : data_(data), batches_(batches), extent_(extent), first_(first), trained_(trained) {}

  std::int64_t samples(const schedule::Item& item) const override;
  std::int64_t minibatch_samples(std::int64_t minibatch) const override;
  std::int64_t samples_before(std::int64_t minibatch) const override;
  at::Tensor load(const model::InputSpec& input, const schedule::Item& item, std::int64_t first,
                  std::int64_t count) const override;

 private:
  const data::DataSet& data_;
  data::Batches batches_;
  schedule::Extent extent_;
  std::int64_t first_;
  std::int64_t trained_;
};

}  // namespace pipedream::train
