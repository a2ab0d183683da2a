// Workers as threads of this process, or this process as one worker of many.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "runtime/worker.h"
#include "transport/emulated.h"
#include "transport/mpi.h"

namespace pipedream::runtime {

// What one worker works with.
struct Seat {
  WorkerId me;
  Channels channels;
  Clock clock;
};

// What every worker does from beginning to end; called once per worker, on a thread of its own.
using Body = std::function<void(const Seat& seat)>;

// Runs the body for workers 0 … workers−1 on threads and joins them all. The first exception of any
// stops the others and is thrown here once all have ended. With `link`, what passes between workers
// takes the time that such a link takes.
void run_on_threads(int workers, const std::optional<transport::Links>& link, const Body& body);

// Runs the body for the worker that this process is; `devices` are all workers' (Job::devices).
// Values and gradients go between GPUs by NCCL where all agree to that (gpu_channel.h); with `link`
// gradients do not. An exception stops all other processes; each then throws the same failure.
void run_as_process(transport::MpiWorld& world, const std::vector<at::Device>& devices,
                    const std::optional<transport::Links>& link, const Body& body);

}  // namespace pipedream::runtime
