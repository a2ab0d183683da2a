// Starts workers: all of them as threads of this process, or one of them as this process
// (docs/runtime.md: Workers).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "runtime/worker.h"
#include "transport/emulated.h"
#include "transport/mpi.h"

namespace pipedream::runtime {

// What one worker is given to run with.
struct Seat {
  WorkerId me;
  Channels channels;
  Clock clock;
};

// What a worker does from beginning to end. Called once per worker. All of a call is on one thread.
using Body = std::function<void(const Seat& seat)>;

// Calls `body` for workers 0 … workers − 1, each on a thread of its own, and joins them all. The
// first exception of any worker aborts the channels of all, and is thrown here when all have ended.
// With `link`, messages of training take the time that such a link would take.
// If `threads_to_bind` is not 0, each worker computes with that many threads, and they get cores of
// their own where there are enough (placing.h).
void run_on_threads(int workers, const std::optional<transport::Links>& link, const Body& body,
                    int threads_to_bind = 0);

// Calls `body` on the calling thread, for the worker that this process is. `devices` has the device
// of each worker (Job::devices). If all workers agree to it (gpu_channel.h), NCCL carries the
// values between stages and sums the weight gradients of replicas; with `link` it carries only the
// values, so that sums take the time of that link. If `body` throws, all other processes are
// aborted and throw the same failure. `threads_to_bind` as above; all processes give the same.
void run_as_process(transport::MpiWorld& world, const std::vector<at::Device>& devices,
                    const std::optional<transport::Links>& link, const Body& body,
                    int threads_to_bind = 0);

}  // namespace pipedream::runtime
