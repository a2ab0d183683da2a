#include "simulate/server_traffic.h"

#include <utility>

#include "simulate/averagings.h"

namespace pipedream::simulate {

void ServerTraffic::add_worker(WorkerId worker, const plan::Stage& stage,
                               const profile::Profile& profile, const cost::Links& links) {
  const auto number = static_cast<std::uint32_t>(workers_.size());
  Traffic& traffic = workers_.emplace_back();
  traffic.push = lanes_.path(cost::push_uses(links, worker, stage.workers));
  traffic.pull = lanes_.path(cost::pull_uses(links, worker, stage.workers));
  traffic.buckets = cost::buckets(profile, stage.layers);
  traffic.lane = lanes_.add(
      cost::exchange_latency(links, stage.workers, cost::Exchange::kParameterServer) / 2, true);
  worker_of_.resize(traffic.lane + 1);
  worker_of_[traffic.lane] = number;
}

void ServerTraffic::push(std::uint32_t worker, const schedule::Push& op, Nanos begin,
                         Nanos duration, Nanos now) {
  Traffic& traffic = workers_[worker];
  traffic.pushing = op;
  const std::vector<Nanos> released = release_times(traffic.buckets, begin, duration);
  for (std::size_t b = 0; b < released.size(); ++b) {
    traffic.transfers.push({.is_pull = false, .is_last = b + 1 == released.size()});
    lanes_.push(traffic.lane, now, released[b],
                static_cast<double>(traffic.buckets[b].weights.count), traffic.push);
  }
}

std::optional<Nanos> ServerTraffic::pull(std::uint32_t worker, Nanos now) {
  Traffic& traffic = workers_[worker];
  if (!traffic.asked) {
    traffic.asked = true;
    traffic.transfers.push({.is_pull = true, .is_last = true});
    double weights = 0;
    for (const cost::Bucket& bucket : traffic.buckets)
      weights += static_cast<double>(bucket.weights.count);
    lanes_.push(traffic.lane, now, now, weights, traffic.pull);
  }
  if (!traffic.pulled_since) return std::nullopt;
  traffic.asked = false;
  return std::exchange(traffic.pulled_since, std::nullopt);
}

ServerTraffic::Done ServerTraffic::moved(const Lanes::Finished& job) {
  Done done{.worker = *worker_of_[job.lane]};
  Traffic& traffic = workers_[done.worker];
  const Transfer transfer = traffic.transfers.front();
  traffic.transfers.pop();
  if (transfer.is_pull) {
    traffic.pulled_since = job.started;
    done.pulled = true;
    return done;
  }
  if (!traffic.push_began) traffic.push_began = job.started;
  if (!transfer.is_last) return done;
  done.pushed = traffic.pushing;
  done.began = *std::exchange(traffic.push_began, std::nullopt);
  return done;
}

}  // namespace pipedream::simulate
