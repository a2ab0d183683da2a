// For tests: runs one schedule on threads, with made-up samples.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "model/sample_inputs.h"
#include "runtime/results.h"
#include "runtime/run.h"

namespace pipedream::runtime {

// Made-up samples. Minibatch t of the schedule is minibatch `first` + t of model::sample_input, cut
// evenly into microbatches. Immutable, so safe to use from several threads.
class SampleFeed final : public Feed {
 public:
  // `last_samples` is the size of the schedule's last minibatch; if not given, it is a whole batch.
  SampleFeed(const model::Network& network, const schedule::Extent& extent, std::uint64_t seed,
             std::int64_t first = 0, std::optional<std::int64_t> last_samples = std::nullopt)
      : network_(network), extent_(extent), seed_(seed), first_(first), last_(last_samples) {}

  std::int64_t samples(const schedule::Item& item) const override { return range(item).count; }
  std::int64_t minibatch_samples(std::int64_t minibatch) const override {
    return last_ && minibatch + 1 == extent_.minibatches ? *last_ : network_.batch;
  }
  std::int64_t samples_before(std::int64_t minibatch) const override {
    return (first_ + minibatch) * network_.batch;
  }
  at::Tensor load(const model::InputSpec& input, const schedule::Item& item, std::int64_t first,
                  std::int64_t count) const override {
    const at::Tensor whole = model::sample_input(input, seed_, first_ + item.minibatch);
    const std::int64_t begin = range(item).first + first;
    return whole.slice(0, begin, begin + count);
  }

 private:
  Range range(const schedule::Item& item) const {
    return even_part(minibatch_samples(item.minibatch), item.microbatch,
                     extent_.microbatches_of(item.minibatch));
  }

  const model::Network& network_;
  schedule::Extent extent_;
  std::uint64_t seed_;
  std::int64_t first_;
  std::optional<std::int64_t> last_;
};

// The results of a run.
struct TestRun {
  std::vector<WorkerResult> workers;
  Weights weights;
  std::map<std::int64_t, double> losses;  // by minibatch: the sum of all workers' Loss::loss

  [[nodiscard]] StagePeaks peaks(WorkerId worker, StageId stage) const {
    for (const StagePeaks& peaks : workers.at(worker.index()).peaks)
      if (peaks.stage == stage) return peaks;
    return {};
  }
  [[nodiscard]] std::vector<schedule::Op> ops(WorkerId worker) const {
    std::vector<schedule::Op> ops;
    for (const timeline::Event& event : workers.at(worker.index()).events) ops.push_back(event.op);
    return ops;
  }
};

// The body of one worker in a run of one segment. Worker 0 writes the results to `run`.
inline void run_one_segment(const Job& job, const Segment& segment, const Seat& seat,
                            const std::function<void(const Loss&)>& on_loss, TestRun& run) {
  Worker worker(job, seat.me, seat.channels, seat.clock, on_loss);
  worker.run(segment);
  auto results = gather(worker, Bytes{}, seat.channels.control, job.patience);
  auto weights = gather_weights(worker, job, seat.channels.control);
  if (seat.me != WorkerId{0}) return;
  run.workers = std::move(results);
  run.weights = std::move(weights);
}

// Returns the channels that a worker is to use in place of its own.
using Equip = std::function<Channels(const Channels&)>;

inline TestRun run_schedule(Job job, const schedule::Schedule& schedule,
                            const schedule::Extent& extent, const Feed& feed,
                            const Equip& equip = {}) {
  TestRun run;
  std::mutex mutex;
  job.replicas = schedule.rules.traits.replicas;
  const auto on_loss = [&](const Loss& loss) {
    const std::lock_guard lock(mutex);
    run.losses[loss.minibatch] += loss.loss;
  };
  const Segment segment{schedule, extent, feed};
  run_on_threads(plan::worker_count(job.plan), std::nullopt, [&](const Seat& seat) {
    const Channels channels = equip ? equip(seat.channels) : seat.channels;
    run_one_segment(job, segment, {seat.me, channels, seat.clock}, on_loss, run);
  });
  return run;
}

}  // namespace pipedream::runtime
