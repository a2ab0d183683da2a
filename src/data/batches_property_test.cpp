#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/even_part.h"
#include "core/property_testing.h"
#include "data/batches.h"
#include "data/microbatches.h"

namespace pipedream::data {
namespace {

using test::any_of_range;
using Samples = std::vector<std::int64_t>;

Samples epoch_of(const Batches& batches, std::int64_t epoch) {
  Samples all;
  for (std::int64_t i = 0; i < batches.per_epoch(); ++i) {
    const Samples some = batches.samples_of(epoch * batches.per_epoch() + i);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

struct Stream {
  std::int64_t samples = any_of_range<std::int64_t>(1, 600);
  std::int64_t batch = any_of_range<std::int64_t>(1, 100);
  std::uint64_t seed = any_of_range<std::uint64_t>(0, 1 << 20);
  [[nodiscard]] Batches batches(bool shuffle = true) const {
    return Batches(samples, batch, seed, shuffle);
  }
};

RC_GTEST_PROP(BatchesProperty, EveryEpochHasEverySampleOnce, ()) {
  const Stream stream;
  Samples found = epoch_of(stream.batches(), any_of_range(0, 1000));
  std::sort(found.begin(), found.end());
  Samples all(static_cast<std::size_t>(stream.samples));
  std::iota(all.begin(), all.end(), 0);
  RC_ASSERT(found == all);
}

// Whatever was used before, and with whichever batch, the rest of an epoch has the other samples.
RC_GTEST_PROP(BatchesProperty, TheRestOfAnEpochHasWhatWasNotUsed, ()) {
  const Stream stream;
  const std::int64_t epoch = any_of_range(0, 1000);
  const Batches before = stream.batches();
  const std::int64_t from = epoch * before.per_epoch();
  const std::int64_t cut = any_of_range<std::int64_t>(0, before.per_epoch());
  Samples found;
  for (std::int64_t i = from; i < from + cut; ++i)
    for (const std::int64_t sample : before.samples_of(i)) found.push_back(sample);
  const std::int64_t used = std::min(stream.samples, cut * stream.batch);
  const Batches after(stream.samples, any_of_range<std::int64_t>(1, 100), stream.seed, true,
                      INT64_MAX, {.epoch = epoch, .used = used});
  std::int64_t i = 0;
  for (; after.epoch_of(i) == epoch; ++i) {
    RC_ASSERT(after.samples_until(i) == static_cast<std::int64_t>(found.size()) - used);
    for (const std::int64_t sample : after.samples_of(i)) found.push_back(sample);
  }
  RC_ASSERT(after.first_of(epoch + 1) == i);
  RC_ASSERT(after.minibatches_until(stream.samples - used) == i);
  std::sort(found.begin(), found.end());
  Samples all(static_cast<std::size_t>(stream.samples));
  std::iota(all.begin(), all.end(), 0);
  RC_ASSERT(found == all);
}

RC_GTEST_PROP(BatchesProperty, SameSeedSameStreamAnotherSeedOrEpochAnother, ()) {
  Stream stream;
  stream.samples += 20;  // two shuffles of fewer samples may be the same by chance
  const std::int64_t epoch = any_of_range(0, 1000);
  const Samples found = epoch_of(stream.batches(), epoch);
  RC_ASSERT(found == epoch_of(stream.batches(), epoch));
  RC_ASSERT(found != epoch_of(stream.batches(), epoch + 1));
  ++stream.seed;
  RC_ASSERT(found != epoch_of(stream.batches(), epoch));
}

RC_GTEST_PROP(BatchesProperty, RangesOfAMinibatchJoinToTheWhole, ()) {
  const Stream stream;
  const Batches batches = stream.batches();
  const std::int64_t minibatch = any_of_range(0, 1000);
  const std::int64_t count = batches.samples_in(minibatch);
  const std::int64_t microbatches = any_of_range<std::int64_t>(1, 12);
  Samples joined;
  for (std::int64_t m = 0; m < microbatches; ++m) {
    const Range range = even_part(count, m, microbatches);
    const Samples some = batches.samples_of(minibatch, range.first, range.count);
    joined.insert(joined.end(), some.begin(), some.end());
  }
  RC_ASSERT(joined == batches.samples_of(minibatch));
}

RC_GTEST_PROP(MicrobatchesProperty, NoneIsEmptyAndSizesDifferByOneAtMost, ()) {
  const auto microbatches = any_of_range<std::int64_t>(1, 64);
  const auto batch = any_of_range<std::int64_t>(microbatches, 1000);
  const auto samples = any_of_range<std::int64_t>(1, batch + 1);
  const std::int64_t parts = microbatches_in(samples, batch, microbatches);
  RC_ASSERT(parts >= 1);
  RC_ASSERT(parts <= microbatches);
  for (std::int64_t m = 0; m < parts; ++m) {
    const std::int64_t count = even_part(samples, m, parts).count;
    RC_ASSERT(count >= 1);
    RC_ASSERT(count == samples / parts || count == samples / parts + 1);
    // The microbatches of a short minibatch are no larger than those of a full minibatch.
    RC_ASSERT(count <= (batch - 1) / microbatches + 1);
  }
}

}  // namespace
}  // namespace pipedream::data
