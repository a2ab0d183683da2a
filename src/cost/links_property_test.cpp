// Compares the loads of links with a count of every single message, on random clusters.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"
#include "cost/links.h"

namespace pipedream::cost {
namespace {

using test::any_of_range;

// Returns a cluster of one to three levels with one to twelve workers in all.
cluster::Cluster any_cluster() {
  cluster::Cluster cluster;
  int workers = 1;
  for (int k = any_of_range(1, 4); k > 0; --k) {
    const int most = k > 1 ? 4 : 12;  // leaves some workers for the outer levels
    const int count = any_of_range(1, std::min(most, 12 / workers) + 1);
    workers *= count;
    cluster.levels.push_back({.name = "level" + std::to_string(k),
                              .count = count,
                              .bandwidth = {static_cast<double>(any_of_range(1, 1000))},
                              .shared = any_of_range(0, 2) == 1});
  }
  cluster.devices.resize(static_cast<std::size_t>(workers));
  return cluster;
}

// Returns at least one of the workers, in any order.
std::vector<WorkerId> any_workers(const cluster::Cluster& cluster) {
  std::vector<WorkerId> all;
  for (int worker = 0; worker < cluster.workers(); ++worker) all.push_back(WorkerId{worker});
  for (std::size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[static_cast<std::size_t>(any_of_range(0, static_cast<int>(i)))]);
  all.resize(static_cast<std::size_t>(any_of_range(1, cluster.workers() + 1)));
  return all;
}

// Counts every message by itself, on the link of its sender and on the link of its receiver.
class Messages {
 public:
  explicit Messages(const cluster::Cluster& cluster) : cluster_(cluster) {}

  void send(WorkerId from, WorkerId to, double bytes) {
    if (from == to) return;
    std::size_t k = 0;
    int inside = 1;
    while (from.value / (inside * cluster_.levels[k].count) !=
           to.value / (inside * cluster_.levels[k].count))
      inside *= cluster_.levels[k++].count;
    const int width = cluster_.levels[k].shared ? inside : 1;
    out_[{k, from.value / width}] += bytes;
    in_[{k, to.value / width}] += bytes;
    total_ += bytes;
    outermost_ = std::max(outermost_.value_or(0), k);
  }
  void add(const Messages& others) {
    for (const auto& [link, bytes] : others.out_) out_[link] += bytes;
    for (const auto& [link, bytes] : others.in_) in_[link] += bytes;
    total_ += others.total_;
    if (others.outermost_) outermost_ = std::max(outermost_.value_or(0), *others.outermost_);
  }
  [[nodiscard]] double load(std::size_t k, int link) const {
    const auto bytes = [&](const auto& by_link) {
      const auto found = by_link.find({k, link});
      return found == by_link.end() ? 0.0 : found->second;
    };
    return std::max(bytes(out_), bytes(in_));
  }
  [[nodiscard]] double longest() const {
    double time = 0;
    for (const auto* by_link : {&out_, &in_})
      for (const auto& [link, bytes] : *by_link)
        time = std::max(time, bytes / cluster_.levels[link.first].bandwidth.bytes_per_second);
    return time;
  }
  [[nodiscard]] double total() const { return total_; }
  // Returns whether `uses` has the same bytes on the same links, with each link and direction once.
  [[nodiscard]] bool are(const std::vector<LinkUse>& uses) const {
    auto out = out_;
    auto in = in_;
    for (const LinkUse& use : uses) {
      auto& by_link = use.outwards ? out : in;
      const auto found = by_link.find({use.level, static_cast<int>(use.link)});
      if (found == by_link.end() || std::abs(found->second - use.bytes) > 1e-9) return false;
      by_link.erase(found);
    }
    return out.empty() && in.empty();
  }
  [[nodiscard]] std::optional<std::size_t> outermost() const { return outermost_; }

 private:
  using Link = std::pair<std::size_t, int>;  // the level, and the link's number in it
  const cluster::Cluster& cluster_;
  std::map<Link, double> out_;
  std::map<Link, double> in_;
  double total_ = 0;
  std::optional<std::size_t> outermost_;
};

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(a)); }

// Returns the load of the link that `worker` has at `level`; nullopt if the level joins only one
// component. LinkLoads says only which link is the busiest. So all other levels are made fast, and
// one more transfer of kProbe bytes makes this link the busiest of its level. The transfer goes to
// all other components in turn, so that none of their links gets as much. If there is only one
// other link, both carry the same.
template <class Fill>
std::optional<double> load_of_link(cluster::Cluster cluster, std::size_t level, int worker,
                                   Fill fill) {
  constexpr double kProbe = 1 << 20;
  for (std::size_t k = 0; k < cluster.levels.size(); ++k)
    cluster.levels[k].bandwidth = {k == level ? 1 : 1e30};
  int inside = 1;
  for (std::size_t k = 0; k < level; ++k) inside *= cluster.levels[k].count;
  const int group = inside * cluster.levels[level].count;
  std::vector<WorkerId> others;
  for (int other = worker / group * group; other < (worker / group + 1) * group; ++other)
    if (other / inside != worker / inside) others.push_back(WorkerId{other});
  if (others.empty()) return std::nullopt;
  const Links links(cluster);
  LinkLoads loads(links);
  fill(loads);
  (void)loads.add_transfer(std::vector<WorkerId>{WorkerId{worker}}, others, kProbe);
  RC_ASSERT(loads.busiest().level == level);
  return loads.busiest().bytes - kProbe;
}

// Expects the same loads from `fill`, which adds traffic to a LinkLoads, and from `messages`, which
// has the same traffic message by message.
template <class Fill>
void expect_same_loads(const cluster::Cluster& cluster, const Messages& messages, Fill fill) {
  const Links links(cluster);
  LinkLoads loads(links);
  fill(loads);
  RC_ASSERT(is_near(loads.bytes_in_all(), messages.total()));
  const LinkLoads::Busiest busiest = loads.busiest();
  RC_ASSERT(is_near(busiest.time.count(), messages.longest()));
  RC_ASSERT(is_near(busiest.bytes, messages.load(busiest.level, static_cast<int>(busiest.link))));
  RC_ASSERT(is_near(busiest.time.count(),
                    busiest.bytes / cluster.levels[busiest.level].bandwidth.bytes_per_second));
  for (std::size_t k = 0; k < cluster.levels.size(); ++k)
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      const std::optional<double> load = load_of_link(cluster, k, worker, fill);
      const int link = static_cast<int>(links.link(k, worker));
      RC_ASSERT(std::abs(load.value_or(0) - messages.load(k, link)) < 1e-6);
    }
}

struct Transfer {
  std::vector<WorkerId> from;
  std::vector<WorkerId> to;
  double bytes;
};

RC_GTEST_PROP(LinkLoadsProperty, TransfersAreThoseOfTheMinibatchesOfOnePeriod, ()) {
  const cluster::Cluster cluster = any_cluster();
  std::vector<Transfer> transfers;
  for (int i = any_of_range(1, 4); i > 0; --i)
    transfers.push_back(
        {any_workers(cluster), any_workers(cluster), static_cast<double>(any_of_range(0, 1000))});
  Messages all(cluster);
  const Links links(cluster);
  for (const auto& [from, to, bytes] : transfers) {
    Messages alone(cluster);
    const std::size_t period = std::lcm(from.size(), to.size());
    for (std::size_t b = 0; b < period; ++b)
      for (Messages* messages : {&all, &alone}) {
        const double each = bytes / static_cast<double>(period);
        messages->send(from[b % from.size()], to[b % to.size()], each);
        messages->send(to[b % to.size()], from[b % from.size()], each);
      }
    LinkLoads loads(links);
    RC_ASSERT(loads.add_transfer(from, to, bytes) == alone.outermost());
  }
  expect_same_loads(cluster, all, [&](LinkLoads& loads) {
    for (const auto& [from, to, bytes] : transfers) (void)loads.add_transfer(from, to, bytes);
  });
}

// Sends the messages of a ring: 2(m−1) steps, and in each step every worker sends an m-th of the
// weights to the next higher worker of the group.
void send_plain_ring(Messages& messages, std::vector<WorkerId> group, double weights,
                     double rounds) {
  std::sort(group.begin(), group.end());
  const double shard = weights / static_cast<double>(group.size());
  for (std::size_t step = 0; step < 2 * (group.size() - 1); ++step)
    for (std::size_t i = 0; i < group.size(); ++i)
      messages.send(group[i], group[(i + 1) % group.size()], shard * rounds);
}

// Returns whether the ring of `group` has two levels: the cluster has two levels, the group is in
// several components of the outer one, and has the same number of workers, more than one, in each.
bool has_two_levels(const cluster::Cluster& cluster, const std::vector<WorkerId>& group) {
  if (cluster.levels.size() != 2) return false;
  std::map<int, int> count;
  for (const WorkerId worker : group) ++count[worker.value / cluster.levels[0].count];
  return count.size() > 1 && count.begin()->second > 1 &&
         std::all_of(count.begin(), count.end(),
                     [&](const auto& each) { return each.second == count.begin()->second; });
}

// The messages of a ring of one or two levels. On two levels, each host sums up all gradients
// inside and spreads the sums inside (`inside`). In between, one worker of each host averages the
// part of the weights that it holds with the other hosts (`between`). A ring of one level is all
// `inside`.
struct RingMessages {
  Messages inside;
  Messages between;
  explicit RingMessages(const cluster::Cluster& cluster) : inside(cluster), between(cluster) {}
  void send(const cluster::Cluster& cluster, std::vector<WorkerId> group, double weights,
            double rounds) {
    if (!has_two_levels(cluster, group))
      return send_plain_ring(inside, std::move(group), weights, rounds);
    std::sort(group.begin(), group.end());
    std::map<int, std::vector<WorkerId>> hosts;
    for (const WorkerId worker : group)
      hosts[worker.value / cluster.levels[0].count].push_back(worker);
    const std::size_t width = hosts.begin()->second.size();
    for (const auto& [host, workers] : hosts) send_plain_ring(inside, workers, weights, rounds);
    for (std::size_t i = 0; i < width; ++i) {
      std::vector<WorkerId> ring;
      for (const auto& [host, workers] : hosts) ring.push_back(workers[i]);
      send_plain_ring(between, ring, weights / static_cast<double>(width), rounds);
    }
  }
};
void send_ring(const cluster::Cluster& cluster, Messages& messages,
               const std::vector<WorkerId>& group, double weights, double rounds) {
  RingMessages ring(cluster);
  ring.send(cluster, group, weights, rounds);
  messages.add(ring.inside);
  messages.add(ring.between);
}

// Every worker sends its gradients of a shard to the shard's owner, and the owner sends the sum
// back to every worker.
void send_all_to_all(Messages& messages, const std::vector<WorkerId>& group, double weights,
                     double rounds) {
  const double shard = weights / static_cast<double>(group.size());
  for (const WorkerId owner : group)
    for (const WorkerId other : group) {
      messages.send(other, owner, shard * rounds);
      messages.send(owner, other, shard * rounds);
    }
}

int hosts_used(const cluster::Cluster& cluster, const std::vector<WorkerId>& group) {
  std::set<int> hosts;
  for (const WorkerId worker : group) hosts.insert(worker.value / cluster.levels[0].count);
  return static_cast<int>(hosts.size());
}

struct Averaging {
  std::vector<WorkerId> group;
  double weights;
  double rounds;
};

std::vector<Averaging> any_averagings(const cluster::Cluster& cluster) {
  std::vector<Averaging> found;
  for (int i = any_of_range(1, 4); i > 0; --i)
    found.push_back({any_workers(cluster), static_cast<double>(any_of_range(0, 1000)),
                     1.0 / any_of_range(1, 9)});
  return found;
}

RC_GTEST_PROP(LinkLoadsProperty, RingsAreTheirStepsMessageByMessage, ()) {
  const cluster::Cluster cluster = any_cluster();
  const std::vector<Averaging> averagings = any_averagings(cluster);
  Messages messages(cluster);
  for (const auto& [group, weights, rounds] : averagings)
    send_ring(cluster, messages, group, weights, rounds);
  expect_same_loads(cluster, messages, [&](LinkLoads& loads) {
    for (const auto& [group, weights, rounds] : averagings)
      loads.add_exchange(group, weights, Exchange::kRing, rounds);
  });
}

RC_GTEST_PROP(LinkLoadsProperty, AllToAllAndParameterServersAreTheirMessagesOneByOne, ()) {
  const cluster::Cluster cluster = any_cluster();
  const std::vector<Averaging> averagings = any_averagings(cluster);
  Messages messages(cluster);
  for (const auto& [group, weights, rounds] : averagings)
    send_all_to_all(messages, group, weights, rounds);
  for (const Exchange pattern : {Exchange::kAllToAll, Exchange::kParameterServer})
    expect_same_loads(cluster, messages, [&](LinkLoads& loads) {
      for (const auto& [group, weights, rounds] : averagings)
        loads.add_exchange(group, weights, pattern, rounds);
    });
}

// However m workers are joined, they send 2(m−1)·W bytes in all.
RC_GTEST_PROP(LinkLoadsProperty, AnExchangeSendsTwiceTheWeightsForEachWorkerButOne, ()) {
  const cluster::Cluster cluster = any_cluster();
  const std::vector<WorkerId> group = any_workers(cluster);
  const double weights = any_of_range(0, 1000);
  const Links links(cluster);
  for (const Exchange pattern :
       {Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer}) {
    LinkLoads loads(links);
    loads.add_exchange(group, weights, pattern, 1);
    RC_ASSERT(is_near(loads.bytes_in_all(), 2 * static_cast<double>(group.size() - 1) * weights));
  }
}

// Latencies grow from the innermost level to the outermost, so the outermost level used has the
// largest.
RC_GTEST_PROP(ExchangeTimeProperty, IsThatOfTheBusiestLinkAndALatencyForEachStep, ()) {
  cluster::Cluster cluster = any_cluster();
  Nanos latency{0};
  for (cluster::Level& level : cluster.levels)
    level.latency = latency += Nanos(any_of_range(0, 1'000'000'000));
  const std::vector<WorkerId> group = any_workers(cluster);
  const double weights = any_of_range(0, 1000);
  RingMessages ring(cluster);
  ring.send(cluster, group, weights, 1);
  Messages all_to_all(cluster);
  send_all_to_all(all_to_all, group, weights, 1);
  const auto slowest = [&](const Messages& messages) {  // messages of 0 bytes count too
    const auto level = messages.outermost();
    return level ? to_seconds(cluster.levels[*level].latency) : 0.0;
  };
  const Links links(cluster);
  const auto time = [&](Exchange pattern) {
    return exchange_time(links, group, weights, pattern).count();
  };
  double steps = 2 * static_cast<double>(group.size() - 1);
  double steps_between = 0;
  if (has_two_levels(cluster, group)) {
    const auto hosts = static_cast<double>(hosts_used(cluster, group));
    steps = 2 * (static_cast<double>(group.size()) / hosts - 1);
    steps_between = 2 * (hosts - 1);
  }
  RC_ASSERT(is_near(time(Exchange::kRing), ring.inside.longest() + steps * slowest(ring.inside) +
                                               ring.between.longest() +
                                               steps_between * slowest(ring.between)));
  for (const Exchange pattern : {Exchange::kAllToAll, Exchange::kParameterServer})
    RC_ASSERT(is_near(time(pattern), all_to_all.longest() + 2 * slowest(all_to_all)));
}

// The loads of transfers and exchanges on the same links are added.
RC_GTEST_PROP(LinkLoadsProperty, TransfersAndExchangesAddUp, ()) {
  const cluster::Cluster cluster = any_cluster();
  const Transfer transfer{any_workers(cluster), any_workers(cluster), 60};
  const std::vector<WorkerId> ring = any_workers(cluster);
  const std::vector<WorkerId> all_to_all = any_workers(cluster);
  Messages messages(cluster);
  const std::size_t period = std::lcm(transfer.from.size(), transfer.to.size());
  for (std::size_t b = 0; b < period; ++b) {
    const WorkerId from = transfer.from[b % transfer.from.size()];
    const WorkerId to = transfer.to[b % transfer.to.size()];
    messages.send(from, to, transfer.bytes / static_cast<double>(period));
    messages.send(to, from, transfer.bytes / static_cast<double>(period));
  }
  send_ring(cluster, messages, ring, 100, 0.5);
  send_all_to_all(messages, all_to_all, 30, 2);
  expect_same_loads(cluster, messages, [&](LinkLoads& loads) {
    (void)loads.add_transfer(transfer.from, transfer.to, transfer.bytes);
    loads.add_exchange(ring, 100, Exchange::kRing, 0.5);
    loads.add_exchange(all_to_all, 30, Exchange::kAllToAll, 2);
  });
}

RC_GTEST_PROP(LinkUsesProperty, AreTheMessagesOfOneByte, ()) {
  const cluster::Cluster cluster = any_cluster();
  const Links links(cluster);
  const std::vector<WorkerId> group = any_workers(cluster);
  const WorkerId one = group.front();
  const WorkerId other = group.back();
  const double shard = 1 / static_cast<double>(group.size());
  Messages transfer(cluster), push(cluster), pull(cluster), all_to_all(cluster);
  RingMessages ring(cluster);
  transfer.send(one, other, 1);
  for (const WorkerId server : group) {
    push.send(one, server, shard);
    pull.send(server, one, shard);
  }
  ring.send(cluster, group, 1, 1);
  send_all_to_all(all_to_all, group, 1, 1);
  if (one != other) RC_ASSERT(transfer.are(transfer_uses(links, one, other)));
  RC_ASSERT(push.are(push_uses(links, one, group)));
  RC_ASSERT(pull.are(pull_uses(links, one, group)));
  const auto in_turn = exchange_uses(links, group, Exchange::kRing);
  RC_ASSERT(in_turn.size() == (has_two_levels(cluster, group) ? 2U : 1U));
  RC_ASSERT(ring.inside.are(in_turn.front()));
  if (in_turn.size() > 1) RC_ASSERT(ring.between.are(in_turn.back()));
  for (const Exchange pattern : {Exchange::kAllToAll, Exchange::kParameterServer})
    RC_ASSERT(all_to_all.are(exchange_uses(links, group, pattern).at(0)));
}

// The pushes and fetches of all workers in one round together are one averaging by parameter
// servers.
RC_GTEST_PROP(LinkUsesProperty, PushesAndFetchesOfAllAreOneExchange, ()) {
  const cluster::Cluster cluster = any_cluster();
  const Links links(cluster);
  const std::vector<WorkerId> group = any_workers(cluster);
  std::map<std::tuple<std::size_t, std::size_t, bool>, double> sums;
  for (const WorkerId worker : group)
    for (const auto& uses : {push_uses(links, worker, group), pull_uses(links, worker, group)})
      for (const LinkUse& use : uses) sums[{use.level, use.link, use.outwards}] += use.bytes;
  const auto together = exchange_uses(links, group, Exchange::kParameterServer).at(0);
  RC_ASSERT(together.size() == sums.size());
  for (const LinkUse& use : together)
    RC_ASSERT(is_near(use.bytes, sums.at({use.level, use.link, use.outwards})));
}

}  // namespace
}  // namespace pipedream::cost
