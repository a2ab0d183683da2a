#include "train/course.h"

#include <algorithm>

#include "core/check.h"
#include "data/microbatches.h"
#include "systems/simulation.h"

namespace pipedream::train {

std::int64_t samples_in_all(std::int64_t samples, std::int64_t batch, std::int64_t epochs,
                            const std::optional<std::int64_t>& minibatches) {
  const data::Batches in_users_units(samples, batch, /*seed=*/0, /*shuffle=*/false);
  return in_users_units.samples_until(minibatches.value_or(epochs * in_users_units.per_epoch()));
}

Course::Course(const CourseOptions& options, const plan::Plan& plan, cost::Replicas replicas)
    : options_(options),
      microbatches_(plan.microbatches),
      batch_(options.batch * systems::minibatches_in_one(plan, replicas)),
      round_(systems::minibatches_of_round(plan, replicas)),
      in_users_units_(options.samples, options.batch, options.seed, /*shuffle=*/false),
      all_samples_(
          samples_in_all(options.samples, options.batch, options.epochs, options.minibatches)),
      batches_(options.samples, batch_, options.seed, /*shuffle=*/true,
               options.extent ? INT64_MAX
                              : std::max<std::int64_t>(1, all_samples_ - options.beginning.samples),
               options.beginning.stream),
      minibatches_(batches_.minibatches_until(
          std::max<std::int64_t>(0, all_samples_ - options.beginning.samples))) {
  if (!options.extent) return;
  minibatches_ = options.extent->minibatches;
  all_samples_ = options.beginning.samples + batches_.samples_until(minibatches_);
}

schedule::Extent extent_of(const data::Batches& batches, std::int64_t batch, int microbatches,
                           std::int64_t last, std::int64_t count) {
  schedule::Extent extent{count, microbatches, microbatches};
  extent.last =
      static_cast<int>(data::microbatches_in(batches.samples_in(last), batch, microbatches));
  return extent;
}

std::int64_t Course::end_of_update(std::int64_t epoch, std::int64_t minibatch,
                                   std::int64_t end) const {
  const std::int64_t in_epoch = minibatch - batches_.first_of(epoch);
  const std::int64_t whole = (in_epoch + round_ - 1) / round_ * round_;
  return std::min(end, batches_.first_of(epoch) + whole);
}

std::int64_t Course::end_after(std::int64_t begun) const {
  if (options_.extent || minibatches_ == 0) return minibatches_;
  begun = std::max<std::int64_t>(begun, 0);
  const std::int64_t epoch = batches_.epoch_of(begun);
  // All stretches of an epoch but its last end with whole updates.
  Stretch stretch = stretch_from(batches_.first_of(epoch));
  while (stretch.first + stretch.count <= begun)
    stretch = stretch_from(stretch.first + stretch.count);
  return end_of_update(epoch, begun + 1, stretch.first + stretch.count);
}

Stretch Course::stretch_from(std::int64_t first) const {
  PD_CHECK(first >= 0 && first < minibatches_);
  if (options_.extent)
    return {.first = first,
            .count = minibatches_ - first,
            .ends_epoch = true,
            .evaluates = options_.evaluations.at_end,
            .saves = options_.checkpoints.at_end};
  const std::int64_t epoch = batches_.epoch_of(first);
  const std::int64_t end_of_epoch = batches_.first_of(epoch + 1);
  const std::int64_t end = std::min(minibatches_, end_of_epoch);
  const std::int64_t done = counted(options_.beginning.samples + batches_.samples_until(first));
  Stretch stretch{epoch, first, end - first, end == end_of_epoch};
  const auto comes_at_end = [&](const auto& times) {
    return (times.at_epochs && stretch.ends_epoch) || (times.at_end && end == minibatches_);
  };
  stretch.evaluates = comes_at_end(options_.evaluations);
  stretch.saves = comes_at_end(options_.checkpoints);
  // Shortens the stretch to end after minibatch `step`, in units of Recipe::batch, if that lies in
  // it. There follows what `what` says.
  const auto end_after = [&](std::int64_t step, bool Stretch::*what) {
    const std::int64_t samples = in_users_units_.samples_until(step) - options_.beginning.samples;
    const std::int64_t wanted = std::max(batches_.minibatches_until(samples), first + 1);
    if (wanted > end) return;
    const std::int64_t count = end_of_update(epoch, wanted, end) - first;
    if (count > stretch.count) return;
    if (count < stretch.count) stretch.ends_epoch = stretch.evaluates = stretch.saves = false;
    stretch.count = count;
    stretch.*what = true;
  };
  const auto next = [&](std::int64_t every) { return (done / every + 1) * every; };
  if (const auto& every = options_.checkpoints.every) end_after(next(*every), &Stretch::saves);
  if (const auto& once = options_.checkpoints.once; once && *once > done)
    end_after(*once, &Stretch::saves);
  if (const auto& every = options_.evaluations.every) end_after(next(*every), &Stretch::evaluates);
  return stretch;
}

}  // namespace pipedream::train
