#include "runtime/run.h"

#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "core/thread.h"
#include "runtime/failure.h"
#include "runtime/gpu_channel.h"
#include "runtime/placing.h"
#include "transport/by_lanes.h"
#include "transport/in_process.h"
#include "transport/lane_sums.h"
#include "transport/nccl.h"

namespace pipedream::runtime {
namespace {

using transport::Transport;
using Endpoints = std::vector<std::unique_ptr<Transport>>;

// Owns one worker's endpoints of all channels. An emulated link slows down the channels that carry
// training; control and news are never slowed down.
struct Ends {
  std::unique_ptr<Transport> values;
  std::unique_ptr<Transport> collectives;
  std::unique_ptr<Transport> served;
  std::unique_ptr<Transport> control;
  std::unique_ptr<Transport> news;
  std::unique_ptr<Transport> saves;
  std::unique_ptr<Transport> stops;
  transport::Sum device_sums = {};

  [[nodiscard]] Channels channels() const {
    return {*values, *collectives, *served, *control, *news, *saves, *stops, device_sums};
  }
  // Everything that may fail comes before `values` is moved from, because abort() still needs it.
  void use_nccl(at::Device mine, bool for_sums) {
    std::unique_ptr<transport::Lanes> lanes = nccl_lanes(mine);
    if (for_sums) device_sums = transport::sum_by_lanes(*collectives, nccl_lanes(mine));
    values = transport::connect_by_lanes(std::move(values), std::move(lanes));
  }
  void slow_down(const std::shared_ptr<transport::LinkQueues>& queues) {
    values = transport::connect_emulated(std::move(values), queues);
    collectives = transport::connect_emulated(std::move(collectives), queues);
    served = transport::connect_emulated(std::move(served), queues);
  }
  void abort(const std::string& reason) const noexcept {
    for (const auto* end : {&values, &collectives, &served, &control, &news, &saves, &stops})
      if (*end) (*end)->abort(reason);
  }
};

std::vector<Ends> connect_threads(int workers, const std::optional<transport::Links>& link) {
  Endpoints values = transport::connect_in_process(workers);
  Endpoints collectives = transport::connect_in_process(workers);
  Endpoints served = transport::connect_in_process(workers);
  Endpoints control = transport::connect_in_process(workers);
  Endpoints news = transport::connect_in_process(workers);
  Endpoints saves = transport::connect_in_process(workers);
  Endpoints stops = transport::connect_in_process(workers);
  std::shared_ptr<transport::LinkQueues> queues;
  if (link) queues = std::make_shared<transport::LinkQueues>(*link, workers);
  std::vector<Ends> ends;
  for (std::size_t w = 0; w < values.size(); ++w) {
    ends.push_back({std::move(values[w]), std::move(collectives[w]), std::move(served[w]),
                    std::move(control[w]), std::move(news[w]), std::move(saves[w]),
                    std::move(stops[w])});
    if (queues) ends.back().slow_down(queues);
  }
  return ends;
}

}  // namespace

void run_on_threads(int workers, const std::optional<transport::Links>& link, const Body& body,
                    int threads_to_bind) {
  const std::vector<Ends> ends = connect_threads(workers, link);
  place::ChosenCores cores;
  if (threads_to_bind > 0) cores = place::choose_cores(workers, threads_to_bind);
  const Clock clock;
  std::once_flag once;
  std::once_flag aborted_once;
  std::exception_ptr first;
  std::exception_ptr aborted;
  const auto guarded = [&](std::size_t w) {
    try {
      name_thread(("pd-worker-" + std::to_string(w)).c_str());
      const auto bound =
          place::bound_to(cores.by_worker.empty() ? place::Placement() : cores.by_worker[w]);
      body({id_at<WorkerId>(w), ends[w].channels(), clock});
    } catch (const transport::Aborted&) {
      // Reports another worker's failure. That worker's own exception, if it comes, is thrown
      // instead.
      std::call_once(aborted_once, [&] { aborted = std::current_exception(); });
    } catch (...) {
      std::call_once(once, [&] {
        first = std::current_exception();
        ends[w].abort(to_reason(first));
      });
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t w = 0; w < ends.size(); ++w) threads.emplace_back(guarded, w);
  }
  if (first) std::rethrow_exception(first);
  if (aborted) std::rethrow_exception(aborted);
}

void run_as_process(transport::MpiWorld& world, const std::vector<at::Device>& devices,
                    const std::optional<transport::Links>& link, const Body& body,
                    int threads_to_bind) {
  Ends ends{world.connect(), world.connect(), world.connect(), world.connect(),
            world.connect(), world.connect(), world.connect()};
  const WorkerId me{world.rank()};
  try {
    const at::Device mine = devices.empty() ? at::Device(at::kCPU) : devices.at(me.index());
    // NCCL's sums would not take the time of an emulated link, so they are used only without one.
    if (agree_on_nccl(*ends.control, {mine, world.hosts().at(me.index()), transport::has_nccl()}))
      ends.use_nccl(mine, /*for_sums=*/!link);
    if (link) ends.slow_down(std::make_shared<transport::LinkQueues>(*link, world.size()));
    PlacedProcess placed;
    if (threads_to_bind > 0) placed = place_process(*ends.control, threads_to_bind);
    const auto bound = place::bound_to(placed.placement);
    body({me, ends.channels(), agreed_clock(*ends.control)});
  } catch (const transport::Aborted& aborted) {
    throw_reason(aborted.what());
  } catch (...) {
    ends.abort(to_reason(std::current_exception()));
    throw;
  }
}

}  // namespace pipedream::runtime
