#include "train/speed_watch.h"

#include <algorithm>
#include <cmath>

#include "core/median.h"
#include "report/table.h"

namespace pipedream::train {
namespace {

constexpr double kOdd = 1.15;  // times as long as planned, and as the others

double median_of_others(const std::vector<double>& ratios, std::size_t worker) {
  std::vector<double> others = ratios;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(worker));
  return median(others);
}

double fastest(const cluster::Cluster& cluster) {
  double most = 0;
  for (const cluster::Device& device : cluster.devices) most = std::max(most, device.speed);
  return most;
}

}  // namespace

std::string to_text(const OddWorker& odd, const OddWorkers& all, const Expectation& expected) {
  return expected.workers.at(odd.worker.index()) + " computed for " +
         report::three_digits(odd.ratio) + " × as long as planned in the last " +
         std::to_string(std::llround(all.lasted.count())) + " s of training, the others for " +
         report::three_digits(odd.others) + " ×";
}

SpeedWatch::SpeedWatch(const Expectation& expected, Nanos patience)
    : expected_(expected), patience_(patience), watched_(expected.busy.size()) {}

bool SpeedWatch::is_odd(const std::vector<double>& ratios, std::size_t worker) const {
  const double own = ratios[worker];
  const double others = median_of_others(ratios, worker);
  if (own > kOdd * std::max(1.0, others)) return true;
  const bool planned_slower = expected_.cluster.devices[worker].speed < fastest(expected_.cluster);
  return planned_slower && own < std::min(1.0, others) / kOdd;
}

std::optional<OddWorkers> SpeedWatch::look(const Speeds& measured, Nanos now) {
  const Nanos time = now - seen_;
  seen_ = now;
  const std::vector<double> ratios = compute_ratios(measured, expected_);
  if (ratios.size() < 2) return std::nullopt;
  bool is_news = false;
  for (std::size_t w = 0; w < watched_.size(); ++w) {
    Watched& worker = watched_[w];
    if (!is_odd(ratios, w)) {
      worker = {};
      continue;
    }
    worker.odd_for += time;
    worker.sum += ratios[w] * to_seconds(time);
    if (!worker.told && worker.odd_for >= patience_) worker.told = is_news = true;
  }
  return is_news ? std::optional(odd_workers(ratios)) : std::nullopt;
}

OddWorkers SpeedWatch::odd_workers(const std::vector<double>& ratios) const {
  OddWorkers odd{.lasted = patience_, .found = {}, .ratios = ratios};
  std::vector<double> even;
  for (std::size_t w = 0; w < watched_.size(); ++w)
    if (watched_[w].told)
      odd.ratios[w] = watched_[w].sum / to_seconds(watched_[w].odd_for);
    else
      even.push_back(ratios[w]);
  for (std::size_t w = 0; w < watched_.size(); ++w)
    if (watched_[w].told)
      odd.found.push_back({id_at<WorkerId>(w), odd.ratios[w], median_of_others(odd.ratios, w)});
    else
      odd.ratios[w] = median(even);
  return odd;
}

}  // namespace pipedream::train
