#include "probe/probe.h"

#include <algorithm>
#include <optional>

#include "core/median.h"
#include "cost/links.h"
#include "probe/together.h"
#include "probe/traffic.h"
#include "transport/all_reduce.h"

namespace pipedream::probe {
namespace {

using std::chrono::steady_clock;

constexpr int kRounds = 3;
constexpr int kSpeedRounds = 5;
constexpr Bytes kFirstLoad{256 << 10};
constexpr Bytes kMostLoad{std::int64_t{8} << 30};
constexpr int kSumTag = 100;
constexpr Bytes kLeastAveraged{1 << 20};
constexpr Bytes kMostAveraged{256 << 20};

// Two workers that exchange messages. Pairs of one group belong together: their rates are added.
struct Pair {
  WorkerId a;
  WorkerId b;
};
using Group = std::vector<Pair>;

// Two hosts, by number.
struct HostPair {
  int a = 0;
  int b = 0;
};

enum class Ways { kOne, kBoth };

Bandwidth rate(Bytes bytes, Nanos time) {
  return {static_cast<double>(bytes.count) / std::max(1e-9, to_seconds(time))};
}

// One worker, which measures together with the others.
class Prober {
 public:
  Prober(const Setting& setting, const Channels& channels)
      : setting_(setting), channels_(channels) {}

  Probed run() {
    measure_workers();
    if (setting_.hosts.workers_each > 1) measure_inside();
    if (setting_.hosts.count() > 1) measure_between();
    Probed probed{measured_, {}, infer(measured_)};
    if (measured_.inside) probed.averaged.push_back(averaging(probed.cluster, /*inside=*/true));
    if (!measured_.between.empty())
      probed.averaged.push_back(averaging(probed.cluster, /*inside=*/false));
    return probed;
  }

 private:
  void step(const std::string& what);
  void measure_workers();
  void measure_inside();
  void measure_between();
  void measure_between(const std::vector<HostPair>& pairs);
  [[nodiscard]] std::vector<std::vector<HostPair>> host_pairs() const;
  [[nodiscard]] std::optional<Pair> my_pair(const std::vector<Group>& groups) const;
  [[nodiscard]] std::vector<Nanos> latencies(const std::vector<Group>& groups);
  [[nodiscard]] std::vector<Rates> rates(const std::vector<Group>& groups);
  [[nodiscard]] std::vector<Bandwidth> rates(const std::vector<Group>& groups, Ways ways);
  [[nodiscard]] Load find_load(const std::vector<Group>& groups, Ways ways);
  [[nodiscard]] std::vector<Nanos> round(const std::vector<Group>& groups, Ways ways,
                                         const Load& load);
  [[nodiscard]] Averaged averaging(const cluster::Cluster& cluster, bool inside);
  [[nodiscard]] std::vector<Numbers> tell(const Numbers& mine) {
    return tell_all(channels_.control, mine);
  }
  [[nodiscard]] WorkerId me() const { return channels_.values.me(); }
  [[nodiscard]] int my_host() const { return me().value / setting_.hosts.workers_each; }

  const Setting& setting_;
  const Channels channels_;
  Measured measured_;
  int steps_ = 0;  // taken
};

void Prober::step(const std::string& what) {
  const int inside = setting_.hosts.workers_each > 1 ? 3 : 0;
  const int of_hosts = setting_.hosts.workers_each > 1 ? 3 : 2;
  const int between =
      setting_.hosts.count() > 1 ? 1 + of_hosts * static_cast<int>(host_pairs().size()) : 0;
  setting_.progress(static_cast<double>(steps_++) / (1 + inside + between), what);
}

// All workers compute at the same time, as they do when they train. Whatever else runs on a machine
// only makes a round slower, so the fastest round counts.
void Prober::measure_workers() {
  step("speed of workers");
  measured_.hosts = setting_.names;
  measured_.workers_each = setting_.hosts.workers_each;
  setting_.work();  // the first is slower: it makes libtorch ready
  std::vector<std::vector<double>> speeds(static_cast<std::size_t>(channels_.values.workers()));
  std::vector<Numbers> said;
  for (int round = 0; round < kSpeedRounds; ++round) {
    (void)tell({});
    std::int64_t done = 0;
    const auto began = steady_clock::now();
    Nanos took{0};
    do {
      setting_.work();
      ++done;
      took = steady_clock::now() - began;
    } while (took < setting_.time / 2);
    said = tell({setting_.memory.count, done, took.count()});
    for (std::size_t w = 0; w < said.size(); ++w)
      speeds[w].push_back(static_cast<double>(said[w].at(1)) / to_seconds(Nanos(said[w].at(2))));
  }
  for (std::size_t w = 0; w < said.size(); ++w) {
    const double fastest = *std::max_element(speeds[w].begin(), speeds[w].end());
    measured_.workers.push_back({Bytes{said[w].at(0)}, fastest, 1 - median(speeds[w]) / fastest});
  }
}

void Prober::measure_inside() {
  std::vector<Group> groups;
  for (int host = 0; host < setting_.hosts.count(); ++host)
    for (int place = 0; place + 1 < setting_.hosts.workers_each; place += 2)
      groups.push_back(
          {{{setting_.hosts.worker(host, place)}, {setting_.hosts.worker(host, place + 1)}}});
  step("latency inside hosts");
  const Nanos latency = median(latencies(groups));
  step("bandwidth inside hosts");
  const std::vector<Rates> pairs = rates(groups);
  const auto slower = [](const Rates& one, const Rates& other) {
    return std::min(one.one_way, one.both_ways) < std::min(other.one_way, other.both_ways);
  };
  measured_.inside = {latency, *std::min_element(pairs.begin(), pairs.end(), slower)};
}

// All hosts in pairs, so that no host is in two of them at the same time. If their number is odd,
// the last one is paired in a round of its own.
std::vector<std::vector<HostPair>> Prober::host_pairs() const {
  const int hosts = setting_.hosts.count();
  std::vector<std::vector<HostPair>> rounds(1);
  for (int host = 0; host + 1 < hosts; host += 2) rounds.front().push_back({host, host + 1});
  if (hosts % 2 == 1) rounds.push_back({{0, hosts - 1}});
  return rounds;
}

void Prober::measure_between() {
  for (const std::vector<HostPair>& pairs : host_pairs()) measure_between(pairs);
}

void Prober::measure_between(const std::vector<HostPair>& pairs) {
  std::vector<Group> single, all;
  for (const HostPair& pair : pairs) {
    Group& group = all.emplace_back();
    for (int place = 0; place < setting_.hosts.workers_each; ++place)
      group.push_back(
          {{setting_.hosts.worker(pair.a, place)}, {setting_.hosts.worker(pair.b, place)}});
    single.push_back({group.front()});
  }
  step("latency between hosts");
  const std::vector<Nanos> latency = latencies(single);
  step("bandwidth between hosts");
  const std::vector<Rates> one = rates(single);
  const bool more = setting_.hosts.workers_each > 1;
  if (more) step("bandwidth between hosts, all workers at once");
  const std::vector<Rates> together = more ? rates(all) : one;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    measured_.between.push_back({pairs[i].a, pairs[i].b, latency[i], one[i], together[i]});
}

std::optional<Pair> Prober::my_pair(const std::vector<Group>& groups) const {
  for (const Group& group : groups)
    for (const Pair& pair : group)
      if (pair.a == me() || pair.b == me()) return pair;
  return std::nullopt;
}

// The latency of the first pair of each group.
std::vector<Nanos> Prober::latencies(const std::vector<Group>& groups) {
  const std::optional<Pair> mine = my_pair(groups);
  (void)tell({});
  Nanos time{0};
  if (mine)
    time = one_way_time(channels_.values, mine->a == me() ? mine->b : mine->a, mine->a == me());
  const std::vector<Numbers> said = tell({time.count()});
  std::vector<Nanos> times;
  for (const Group& group : groups) times.push_back(Nanos(said[group.front().a.index()].at(0)));
  return times;
}

std::vector<Rates> Prober::rates(const std::vector<Group>& groups) {
  const std::vector<Bandwidth> one = rates(groups, Ways::kOne);
  const std::vector<Bandwidth> both = rates(groups, Ways::kBoth);
  std::vector<Rates> all;
  for (std::size_t i = 0; i < groups.size(); ++i) all.push_back({one[i], both[i]});
  return all;
}

// The load that the slowest group carries in about the time of a round. The faster of two rounds
// counts, so that a hiccup does not make the load too small.
Load Prober::find_load(const std::vector<Group>& groups, Ways ways) {
  constexpr double kMostGrowth = 16;  // small loads are carried more slowly than large ones
  const auto slowest = [&](const Load& load) {
    const std::vector<Nanos> times = round(groups, ways, load);
    return to_seconds(*std::max_element(times.begin(), times.end()));
  };
  for (Bytes bytes = kFirstLoad;;) {
    const Load load = load_of(bytes);
    const double took = std::min(slowest(load), slowest(load));
    const double growth = to_seconds(setting_.time) / std::max(1e-6, took);
    if (growth < 2 || bytes == kMostLoad) return load;
    bytes = std::min(kMostLoad, Bytes{static_cast<std::int64_t>(static_cast<double>(bytes.count) *
                                                                std::min(growth, kMostGrowth))});
  }
}

// The median of several rounds, by group.
std::vector<Bandwidth> Prober::rates(const std::vector<Group>& groups, Ways ways) {
  const Load load = find_load(groups, ways);
  std::vector<std::vector<Nanos>> rounds(groups.size());
  for (int i = 0; i < kRounds; ++i) {
    const std::vector<Nanos> times = round(groups, ways, load);
    for (std::size_t g = 0; g < groups.size(); ++g) rounds[g].push_back(times[g]);
  }
  std::vector<Bandwidth> rates;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Bytes carried{load.bytes().count * std::ssize(groups[g])};
    rates.push_back(rate(carried, median(rounds[g])));
  }
  return rates;
}

// By group, the time until the last message of its pairs has arrived. The times are those of the
// receivers, so clocks of different hosts need not agree.
std::vector<Nanos> Prober::round(const std::vector<Group>& groups, Ways ways, const Load& load) {
  const std::optional<Pair> mine = my_pair(groups);
  (void)tell({});
  Nanos took{0};
  if (mine) {
    const bool first = mine->a == me();
    const bool both = ways == Ways::kBoth;
    took = carry(channels_.values,
                 {.peer = first ? mine->b : mine->a,
                  .sends = first || both,
                  .receives = !first || both,
                  .copies = setting_.threads && (!first || both)},
                 load);
  }
  const std::vector<Numbers> said = tell({took.count()});
  std::vector<Nanos> times;
  for (const Group& group : groups) {
    Nanos& slowest = times.emplace_back(0);
    for (const Pair& pair : group)
      for (const WorkerId worker : {pair.a, pair.b})
        slowest = std::max(slowest, Nanos(said[worker.index()].at(0)));
  }
  return times;
}

// The bytes whose averaging should take about `time`.
Bytes bytes_to_average(const cost::Links& links, std::span<const WorkerId> group, Nanos time) {
  const Seconds one =
      cost::exchange_time(links, group, static_cast<double>(kLeastAveraged.count), Exchange::kRing);
  const double times = std::max(1.0, to_seconds(time) / std::max(1e-9, one.count()));
  const double most = static_cast<double>(kMostAveraged.count) / kLeastAveraged.count;
  return Bytes{static_cast<std::int64_t>(std::min(times, most)) * kLeastAveraged.count};
}

Averaged Prober::averaging(const cluster::Cluster& cluster, bool inside) {
  step(inside ? "averaging inside hosts" : "averaging over all workers");
  const cost::Links links(cluster);
  const int first = inside ? setting_.hosts.worker(my_host(), 0) : 0;
  const int count = inside ? setting_.hosts.workers_each : channels_.values.workers();
  std::vector<WorkerId> group;
  for (int i = 0; i < count; ++i) group.push_back({first + i});
  const Bytes bytes = bytes_to_average(links, group, 2 * setting_.time);
  std::vector<float> values(static_cast<std::size_t>(bytes.count) / sizeof(float), 1.0F);
  transport::Way way;
  if (!inside) way.host_of = cluster::hosts(cluster);
  std::vector<Nanos> times;
  for (int round = 0; round < kRounds; ++round) {
    (void)tell({});
    const auto began = steady_clock::now();
    transport::all_reduce(channels_.values, group, kSumTag, values, way, patience());
    Nanos slowest{0};
    for (const Numbers& said : tell({Nanos(steady_clock::now() - began).count()}))
      slowest = std::max(slowest, Nanos(said.at(0)));
    times.push_back(slowest);
  }
  const Seconds predicted =
      cost::exchange_time(links, group, static_cast<double>(bytes.count), Exchange::kRing);
  return {inside, count, bytes, median(times), from_seconds(predicted.count())};
}

}  // namespace

Probed probe(const Setting& setting, const Channels& channels) {
  return Prober(setting, channels).run();
}

}  // namespace pipedream::probe
