// What all workers of a training run are given alike: the job, and the segments that it is run in
// (docs/runtime.md).
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "core/straggler.h"
#include "model/network.h"
#include "model/precision.h"
#include "plan/plan.h"
#include "runtime/feed.h"
#include "runtime/optimiser.h"
#include "runtime/replicas.h"
#include "schedule/schedule.h"

namespace pipedream::runtime {

// The longest `Job::patience` that a user may ask for, in seconds: more than anyone needs, and
// within the range of all clocks.
inline constexpr double kMostPatience = 1e7;

// The training loss of one minibatch, or one worker's part of it where replicas share minibatches.
struct Loss {
  std::int64_t minibatch = 0;  // counted from 0 through all epochs
  // The mean over the minibatch's samples. Of a part: its contribution, so that the parts of all
  // replicas add up to the mean.
  double loss = 0;
  std::int64_t samples = 0;  // samples that `loss` was computed from
};

// An op that a worker runs, for messages. Plain data, so that it can be read in the memory of a
// process that was killed.
struct OpPlace {
  schedule::Op op;
  StageId stage;
  std::int64_t minibatch = -1;  // Loss::minibatch; −1 if the op is about none
};
// Returns "0:F3@3 (stage 0, minibatch 3)".
[[nodiscard]] std::string to_text(const OpPlace& place);

// What is to be trained and how. All workers have the same job, whether they are threads or
// processes. What it refers to outlives the workers, and its functions may be called from the
// threads of all workers at once.
struct Job {
  const model::Network& network;
  const plan::Plan& plan;
  // How replicas divide the work. Must be the `Traits::replicas` of every schedule that is run.
  schedule::Replicas replicas = schedule::Replicas::kTakeTurns;
  std::uint64_t seed = 0;           // of initial weights, dropout and the order of samples
  std::vector<at::Device> devices;  // one per worker; if empty, all workers are on the CPU
  model::Precision precision = model::Precision::kFloat;
  int threads = 1;  // CPU threads that one worker computes with
  bool bind_cores =
      false;  // whether workers on CPUs get cores of their own (docs/runtime.md: Cores)
  std::chrono::milliseconds patience{60'000};  // the longest wait for another worker
  // Returns a new optimiser without state, for one stage on one worker.
  std::function<std::unique_ptr<Optimiser>()> make_optimiser;
  // The factor on the optimiser's learning rate of an update that averages over `minibatches`
  // minibatches, when `samples` samples were trained before the first of them. Empty: it is 1.
  std::function<double(std::int64_t samples, std::int64_t minibatches)> rate;
  // How replicas all-reduce weight gradients. Asynchronous data parallelism (dp-asp) uses only the
  // bucket sizes, for the gradients that workers push.
  AveragingOptions averaging;
  // If set, gradients are scaled so that the norm of all gradients of an update, over all stages,
  // is at most this.
  std::optional<double> clip_norm;
  // Workers that are held back: after each op of compute they sleep, so that it takes as long as on
  // a device of this speed, 1 at most. Only on CPUs.
  std::vector<Straggler> stragglers;
  bool keep_timeline = false;  // whether events of loads, transfers and all-reduces are kept too
  // Where each worker writes its last ops if a worker waited for another for longer than
  // `patience`. If empty, nothing is written.
  std::filesystem::path stall_folder;
  // Called before each op; tests throw here. May be empty.
  std::function<void(WorkerId, const schedule::Op&)> before_op;
  // Returns the memory that the calling worker holds, for the timeline. May be empty.
  std::function<Bytes()> memory_now;
  // Told each op before it runs, on the worker's thread. May be empty.
  std::function<void(const OpPlace&)> note_op;

  [[nodiscard]] at::Device device_of(WorkerId worker) const {
    return devices.empty() ? at::Device(at::kCPU) : devices.at(worker.index());
  }
  // How many threads of each worker get cores of their own; 0 if the system chooses the cores.
  [[nodiscard]] int threads_to_bind() const {
    const bool on_cpu = std::all_of(devices.begin(), devices.end(),
                                    [](const at::Device& device) { return device.is_cpu(); });
    return bind_cores && on_cpu ? threads : 0;
  }
};

// One schedule that all workers run, such as an epoch or an evaluation. When a worker has finished
// its part, it has no item of the segment in flight; other workers may still be busy with theirs.
struct Segment {
  const schedule::Schedule& schedule;
  schedule::Extent extent;  // how many minibatches and microbatches `schedule` has
  const Feed& feed;         // the samples of the schedule's items
  // The number of the schedule's minibatch 0: in training, counted through all epochs; in
  // evaluation, within the held-out data.
  std::int64_t first = 0;
  // Whether the worker records when it did what (Worker::recorder). Only for schedules that train.
  bool recorded = true;
  // Called by each worker before it begins a minibatch, with the number of that minibatch in the
  // schedule, ascending. Returns nullopt if the segment goes on. Otherwise returns where it ends:
  // the worker runs no op of that minibatch or a later one. All workers must get the same end, a
  // whole update of all stages, before any of them has begun it (schedule/cut.h). May block, and
  // may be empty.
  std::function<std::optional<std::int64_t>(std::int64_t minibatch)> end_before = {};
  // Called by each worker's thread after every op. Must not wait for anything. May be empty.
  std::function<void()> after_op = {};
};

}  // namespace pipedream::runtime
