#include "train/slow_cause.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/median.h"
#include "core/text.h"
#include "cost/links.h"
#include "report/table.h"
#include "systems/system.h"

namespace pipedream::train {
namespace {

constexpr double kSlow = 0.9;      // of the expected speed: what is faster needs no explanation
constexpr double kClearly = 1.1;   // a worker stands out if it is that much slower
constexpr double kExplains = 0.5;  // of the time lost: what accounts for less does not explain it
constexpr double kFar = 0.5;       // of a link's bandwidth: with less it is far from full

// Something that costs time, in seconds per sample that all workers together train.
struct Cause {
  double lost = 0;
  std::string text;
};

// The worker that loses the most time, if it is clearly slower than the others.
Cause slowest_worker(const Speeds& measured, const Expectation& expected) {
  const std::vector<double> times = compute_ratios(measured, expected);
  const auto lost_by = [&](std::size_t w) { return (times[w] - 1) * expected.busy[w]; };
  std::size_t slowest = 0;
  for (std::size_t w = 1; w < times.size(); ++w)
    if (lost_by(w) > lost_by(slowest)) slowest = w;
  std::vector<double> others = times;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(slowest));
  if (others.empty() || times[slowest] < kClearly * std::max(1.0, median(others))) return {};
  return {lost_by(slowest), "slowest: " + expected.workers.at(slowest) + ", " +
                                report::three_digits(times[slowest]) +
                                " × its plan's time per minibatch"};
}

using LinkName = std::tuple<std::size_t, std::size_t, bool>;  // level, number, outwards

// What passes one link, and which pairs of workers send it.
struct Load {
  double bytes_per_second = 0;
  std::map<std::pair<std::size_t, std::size_t>, double> pairs;
};

std::map<LinkName, Load> loads_of(const Speeds& measured, const cost::Links& links) {
  std::map<LinkName, Load> loads;
  for (std::size_t from = 0; from < measured.workers.size(); ++from) {
    const WorkerSpeed& worker = measured.workers[from];
    for (std::size_t to = 0; to < worker.sent.size(); ++to) {
      if (to == from || worker.sent[to] <= 0) continue;
      for (const cost::LinkUse& use :
           cost::transfer_uses(links, id_at<WorkerId>(from), id_at<WorkerId>(to))) {
        Load& load = loads[{use.level, use.link, use.outwards}];
        const double speed = use.bytes * worker.sent[to] / worker.seconds;
        load.bytes_per_second += speed;
        load.pairs[{from, to}] += speed;
      }
    }
  }
  return loads;
}

// The ends between which the most of the load goes: two hosts, or two workers of one host.
std::string ends_of(const Load& load, const Expectation& expected) {
  std::map<std::string, double> ends;
  for (const auto& [pair, speed] : load.pairs) {
    const auto [from, to] = pair;
    const bool by_host = !expected.hosts.empty() && expected.hosts[from] != expected.hosts[to];
    ends[by_host ? expected.hosts[from] + " → " + expected.hosts[to]
                 : "worker " + std::to_string(from) + " → worker " + std::to_string(to)] += speed;
  }
  return std::max_element(ends.begin(), ends.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// "95.0 % of 1 Gbit/s". A link that is far from full is perhaps not as fast as the plan takes it to
// be: "only 100 Mbit/s of 1 Gbit/s".
std::string use_text(double bytes_per_second, Bandwidth bandwidth) {
  const double share = bytes_per_second / bandwidth.bytes_per_second;
  const std::string used =
      share < kFar ? "only " + to_text(Bandwidth{bytes_per_second}) : report::percent(share);
  return used + " of " + to_text(bandwidth);
}

// The transfers that a worker waits for longer than planned, told by the link that is used most.
Cause busiest_link(const Speeds& measured, const Expectation& expected) {
  double lost = 0;
  for (std::size_t w = 0; w < measured.workers.size(); ++w) {
    const WorkerSpeed& worker = measured.workers[w];
    const double waits = worker.transfer / worker.seconds / measured.samples_per_second;
    lost = std::max(lost, waits - expected.transfer.at(w));
  }
  const cost::Links links(expected.cluster);
  const std::map<LinkName, Load> loads = loads_of(measured, links);
  if (lost <= 0 || loads.empty()) return {};
  const auto share = [&](const auto& load) {
    return load.second.bytes_per_second /
           links.level(std::get<0>(load.first)).bandwidth.bytes_per_second;
  };
  const auto busiest =
      std::max_element(loads.begin(), loads.end(),
                       [&](const auto& a, const auto& b) { return share(a) < share(b); });
  return {lost, "busiest link: " + ends_of(busiest->second, expected) + ", " +
                    use_text(busiest->second.bytes_per_second,
                             links.level(std::get<0>(busiest->first)).bandwidth)};
}

bool is_complete(const Speeds& measured, const Expectation& expected) {
  return measured.samples_per_second > 0 && expected.samples_per_second > 0 &&
         measured.workers.size() == expected.busy.size() &&
         measured.workers.size() == static_cast<std::size_t>(expected.cluster.workers()) &&
         std::all_of(measured.workers.begin(), measured.workers.end(),
                     [](const WorkerSpeed& worker) { return worker.seconds > 0; });
}

}  // namespace

std::optional<Expectation> expectation(const plan::Plan& plan, const systems::Simulated& simulated,
                                       std::int64_t batch, const cluster::Cluster& cluster,
                                       std::vector<std::string> hosts) {
  if (simulated.minibatches_per_second <= 0) return std::nullopt;
  const auto replicas = systems::find_system(plan.system).traits.replicas;
  const auto samples = static_cast<double>(simulated.minibatches *
                                           systems::minibatches_in_one(plan, replicas) * batch);
  const auto workers = static_cast<std::size_t>(cluster.workers());
  Expectation expected{
      .samples_per_second = simulated.minibatches_per_second * static_cast<double>(batch),
      .busy = std::vector<double>(workers),
      .transfer = std::vector<double>(workers),
      .workers = {},
      .hosts = std::move(hosts),
      .cluster = cluster};
  for (const timeline::WorkerAccount& worker : simulated.summary.workers) {
    const std::size_t w = worker.worker.index();
    expected.busy.at(w) = to_seconds(worker.busy) / samples;
    // Of a worker with less to compute, waits for transfers count as imbalance, too.
    expected.transfer.at(w) = to_seconds(worker.idle.transfer + worker.idle.imbalance) / samples;
  }
  for (std::size_t w = 0; w < workers; ++w) {
    std::vector<std::string> stages;
    for (std::size_t s = 0; s < plan.stages.size(); ++s)
      for (const WorkerId each : plan.stages[s].workers)
        if (each.index() == w) stages.push_back(std::to_string(s));
    expected.workers.push_back(
        "worker " + std::to_string(w) +
        (expected.hosts.empty() ? "" : " on " + expected.hosts.at(w)) +
        (stages.empty() ? ""
                        : (stages.size() == 1 ? " (stage " : " (stages ") + joined(stages) + ")"));
  }
  return expected;
}

std::vector<double> compute_ratios(const Speeds& measured, const Expectation& expected) {
  std::vector<double> ratios;
  if (!is_complete(measured, expected)) return ratios;
  for (std::size_t w = 0; w < measured.workers.size(); ++w) {
    const WorkerSpeed& worker = measured.workers[w];
    const double per_sample = worker.busy / worker.seconds / measured.samples_per_second;
    ratios.push_back(expected.busy[w] > 0 ? per_sample / expected.busy[w] : 1);
  }
  return ratios;
}

std::optional<std::string> slow_cause(const Speeds& measured, const Expectation& expected) {
  if (!is_complete(measured, expected)) return std::nullopt;
  if (measured.samples_per_second > kSlow * expected.samples_per_second) return std::nullopt;
  const double lost = 1 / measured.samples_per_second - 1 / expected.samples_per_second;
  const Cause worker = slowest_worker(measured, expected);
  const Cause link = busiest_link(measured, expected);
  const Cause& first = worker.lost >= link.lost ? worker : link;
  if (first.lost < kExplains * lost) return std::nullopt;
  return first.text;
}

}  // namespace pipedream::train
