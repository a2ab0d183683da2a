#include "probe/infer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/check.h"
#include "core/error.h"
#include "core/median.h"
#include "core/text.h"

namespace pipedream::probe {
namespace {

constexpr double kSameSpeed = 0.05;   // devices whose speeds differ by less are equal
constexpr double kSameMemory = 0.02;  // the same of their memory
constexpr double kWorthSaying = 0.1;  // a difference that remarks() mentions
constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

double three_digits(double number) {
  if (number <= 0) return number;
  const double unit = std::pow(10, std::floor(std::log10(number)) - 2);
  // Dividing by a power of ten is exact where multiplying by its inverse is not: 0.1, 0.01.
  return unit >= 1 ? std::round(number / unit) * unit : std::round(number / unit) / (1 / unit);
}

Bandwidth rounded(Bandwidth speed) { return {three_digits(speed.bytes_per_second * 8) / 8}; }

Nanos rounded(Nanos time) {
  return Nanos(std::llround(three_digits(static_cast<double>(time.count()))));
}

Bandwidth lower(const Rates& rates) { return std::min(rates.one_way, rates.both_ways); }

// Whether the workers of a host share its link. If they do, all of them together are as fast as one
// of them; otherwise they are as many times faster as there are workers. The limit between the two
// is the geometric mean.
bool is_shared(const BetweenHosts& link, int workers) {
  return workers > 1 &&
         lower(link.all_pairs).bytes_per_second <
             std::sqrt(static_cast<double>(workers)) * lower(link.one_pair).bytes_per_second;
}

// The bandwidth of the link of a host, or of one of its workers if they do not share it.
Bandwidth bandwidth_of(const BetweenHosts& link, bool shared, int workers) {
  const Bandwidth all = lower(link.all_pairs);
  return shared ? all : Bandwidth{all.bytes_per_second / workers};
}

bool slower(const BetweenHosts& one, const BetweenHosts& other) {
  return lower(one.all_pairs) < lower(other.all_pairs);
}

const BetweenHosts& slowest(const Measured& measured) {
  return *std::min_element(measured.between.begin(), measured.between.end(), slower);
}

cluster::Level level_between(const Measured& measured) {
  std::vector<Nanos> latencies;
  for (const BetweenHosts& link : measured.between) latencies.push_back(link.latency);
  const BetweenHosts& link = slowest(measured);
  const bool shared = is_shared(link, measured.workers_each);
  return {.name = "network",
          .count = static_cast<int>(measured.hosts.size()),
          .bandwidth = rounded(bandwidth_of(link, shared, measured.workers_each)),
          .latency = rounded(median(latencies)),
          .shared = shared};
}

cluster::Level level_inside(const Measured& measured) {
  const InsideHosts& inside = measured.inside.value();
  return {.name = "host",
          .count = measured.workers_each,
          .bandwidth = rounded(lower(inside.slowest_pair)),
          .latency = rounded(inside.latency)};
}

// The speed of a worker relative to the first. A difference that is not larger than the differences
// between the rounds of one worker is none: the machine does other things as well.
double relative_speed(const OfWorker& worker, const OfWorker& first) {
  const double speed = worker.speed / first.speed;
  if (std::abs(speed - 1) <= std::max({kSameSpeed, worker.unsteady, first.unsteady})) return 1;
  return std::clamp(std::round(speed * 100) / 100, 0.01, 1000.0);
}

// The memory of a device: of the smallest if it is about as large, so that devices of one kind are
// described as equal.
Bytes device_memory(Bytes memory, Bytes smallest) {
  const auto of = [](Bytes bytes) { return static_cast<double>(bytes.count); };
  const Bytes taken = of(memory) <= of(smallest) * (1 + kSameMemory) ? smallest : memory;
  return taken.count < kMebibyte ? taken : Bytes{taken.count / kMebibyte * kMebibyte};
}

std::vector<cluster::Device> devices(const std::vector<OfWorker>& workers) {
  PD_CHECK(!workers.empty() && workers.front().speed > 0);
  Bytes smallest = workers.front().memory;
  for (const OfWorker& worker : workers) smallest = std::min(smallest, worker.memory);
  std::vector<cluster::Device> devices;
  for (const OfWorker& worker : workers)
    devices.push_back(
        {device_memory(worker.memory, smallest), relative_speed(worker, workers.front())});
  return devices;
}

std::string name_of(const Measured& measured) {
  const std::string workers = counted(measured.workers_each, "worker", "workers");
  if (measured.hosts.size() == 1) return fmt::format("{} of one host", workers);
  return fmt::format("{} hosts of {}", measured.hosts.size(), workers);
}

[[noreturn]] void refuse_uneven(const std::vector<int>& sizes,
                                const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (std::size_t h = 0; h < sizes.size(); ++h)
    found.push_back(fmt::format("{} on {}", sizes[h], names[h]));
  throw CannotMeet(fmt::format(
      "wanted the same number of workers on each host, because a cluster file counts them per "
      "level; found {}: start as many everywhere (mpirun -H a:2,b:2)",
      joined(found)));
}

}  // namespace

Hosts hosts_of(std::span<const int> host_of, std::span<const std::string> names) {
  PD_CHECK(host_of.size() == names.size());
  if (host_of.size() < 2)
    throw CannotMeet(
        "wanted two workers or more, between which links can be measured, found one: start more "
        "(mpirun -n 4)");
  Hosts hosts;
  std::vector<int> sizes;
  std::vector<std::string> host_names;
  std::map<int, int> last;  // by host: its last worker so far
  for (int w = 0; w < static_cast<int>(host_of.size()); ++w) {
    const auto place = static_cast<std::size_t>(w);
    const auto [known, is_new] = last.emplace(host_of[place], w);
    if (!is_new && known->second != w - 1)
      throw CannotMeet(fmt::format(
          "wanted the workers of a host to have consecutive numbers, because a cluster file "
          "numbers "
          "them so; found workers {} and {} on {}, and {} between them on {}: let mpirun fill one "
          "host after the other (--map-by slot)",
          known->second, w, names[place], w - 1, names[place - 1]));
    known->second = w;
    if (is_new) {
      hosts.first.push_back(w);
      sizes.push_back(0);
      host_names.push_back(names[place]);
    }
    ++sizes.back();
  }
  hosts.workers_each = sizes.front();
  if (std::any_of(sizes.begin(), sizes.end(), [&](int size) { return size != sizes.front(); }))
    refuse_uneven(sizes, host_names);
  return hosts;
}

cluster::Cluster infer(const Measured& measured) {
  cluster::Cluster cluster{name_of(measured), {}, devices(measured.workers)};
  if (measured.inside) cluster.levels.push_back(level_inside(measured));
  if (!measured.between.empty()) cluster.levels.push_back(level_between(measured));
  return cluster;
}

namespace {

bool differs(double one, double other) {
  return std::abs(one - other) > kWorthSaying * std::max(one, other);
}

void remark_on_both_ways(const std::string& where, const Rates& rates,
                         std::vector<std::string>& remarks) {
  if (rates.both_ways.bytes_per_second >= (1 - kWorthSaying) * rates.one_way.bytes_per_second)
    return;
  remarks.push_back(
      fmt::format("{}: {} one way, but only {} in each direction when both are used. The cluster "
                  "has the lower, "
                  "because pipelines and averaging send both ways at once",
                  where, to_text(rates.one_way), to_text(rates.both_ways)));
}

void remark_on_slow_hosts(const Measured& measured, std::vector<std::string>& remarks) {
  if (measured.between.empty()) return;
  const BetweenHosts& low = slowest(measured);
  const BetweenHosts& high =
      *std::max_element(measured.between.begin(), measured.between.end(), slower);
  const Bandwidth slow = lower(low.all_pairs), fast = lower(high.all_pairs);
  if (!differs(slow.bytes_per_second, fast.bytes_per_second)) return;
  const auto names = [&](const BetweenHosts& link) {
    return measured.hosts[static_cast<std::size_t>(link.a)] + " and " +
           measured.hosts[static_cast<std::size_t>(link.b)];
  };
  remarks.push_back(fmt::format(
      "links differ: {} between {}, and {} between {}. A cluster file has one bandwidth "
      "per level, and this one has the lowest",
      to_text(slow), names(low), to_text(fast), names(high)));
}

void remark_on_unsteady_workers(const Measured& measured, std::vector<std::string>& remarks) {
  double most = 0;
  std::size_t where = 0;
  for (std::size_t w = 0; w < measured.workers.size(); ++w)
    if (measured.workers[w].unsteady > most) {
      most = measured.workers[w].unsteady;
      where = w;
    }
  if (most <= kWorthSaying) return;
  remarks.push_back(
      fmt::format("speeds are unsteady: worker {} computed {:.0f} % slower in the middle of five "
                  "rounds than in "
                  "the fastest. Other programs run there: measure again when they have ended",
                  where, 100 * most));
}

void remark_on_averaging(const Averaged& averaged, std::vector<std::string>& remarks) {
  const double took = to_seconds(averaged.took), predicted = to_seconds(averaged.predicted);
  if (!differs(took, predicted)) return;
  remarks.push_back(fmt::format("averaging {} {} takes {}, and the cluster predicts {}",
                                to_text(averaged.bytes),
                                averaged.inside_hosts ? "inside a host" : "over all workers",
                                to_text(averaged.took), to_text(averaged.predicted)));
}

}  // namespace

std::vector<std::string> remarks(const Measured& measured, const std::vector<Averaged>& averaged) {
  std::vector<std::string> remarks;
  if (measured.inside) remark_on_both_ways("inside a host", measured.inside->slowest_pair, remarks);
  if (!measured.between.empty())
    remark_on_both_ways("between hosts", slowest(measured).all_pairs, remarks);
  remark_on_slow_hosts(measured, remarks);
  for (const Averaged& each : averaged) remark_on_averaging(each, remarks);
  remark_on_unsteady_workers(measured, remarks);
  return remarks;
}

}  // namespace pipedream::probe
