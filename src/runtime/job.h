// What the workers of a run have in common.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "model/network.h"
#include "model/precision.h"
#include "plan/plan.h"
#include "runtime/feed.h"
#include "runtime/optimiser.h"
#include "runtime/replicas.h"
#include "schedule/schedule.h"

namespace pipedream::runtime {

inline constexpr double kMostPatience = 1e7;  // seconds: beyond any use, and within all clocks

// A loss that came out of training: of a whole minibatch, or of the part that one worker had.
struct Loss {
  std::int64_t minibatch = 0;  // of the whole training
  double loss = 0;
  std::int64_t samples = 0;
};

// The same for all workers, whether they are threads or processes. What it refers to outlives them;
// its functions may be called from all their threads.
struct Job {
  const model::Network& network;
  const plan::Plan& plan;
  schedule::Sharing sharing = schedule::Sharing::kTurns;
  std::uint64_t seed = 0;
  std::vector<at::Device> devices;  // by worker; none: all on CPU
  model::Precision precision = model::Precision::kFloat;
  int threads = 1;                             // that one worker computes with
  std::chrono::milliseconds patience{60'000};  // the longest wait for another worker
  // A fresh optimiser for a stage.
  std::function<std::unique_ptr<Optimiser>()> make_optimiser;
  Averaging averaging;              // among replicas, and what dp-asp's workers push
  std::optional<double> clip_norm;  // of all gradients of an update together
  bool keep_timeline = false;       // all events, not just those of compute
  // Where each worker writes its last ops when somebody was waited for too long; empty: nowhere.
  std::filesystem::path stall_folder;
  // Called before each op; a test throws here. May be empty.
  std::function<void(WorkerId, const schedule::Op&)> before_op;

  [[nodiscard]] at::Device device_of(WorkerId worker) const {
    return devices.empty() ? at::Device(at::kCPU) : devices.at(worker.index());
  }
};

// One schedule that all workers run through together. When a worker has ended it, it has nothing of
// it left; others may still be at it.
struct Segment {
  const schedule::Schedule& schedule;
  schedule::Extent extent;
  const Feed& feed;
  std::int64_t first = 0;  // the number, in the whole training, of its minibatch 0
};

}  // namespace pipedream::runtime
