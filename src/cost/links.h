// Time on the links of a cluster: one transfer, one exchange of gradients, and the load that a
// whole plan puts on each link per minibatch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "core/exchange.h"
#include "core/units.h"

namespace pipedream::cost {

using pipedream::Exchange;

// What each of m members sends, per byte that they average.
[[nodiscard]] constexpr double exchange_share(int m) { return 2.0 * (m - 1) / m; }

// A cluster's links, prepared for many questions. A link belongs to a level and is used in two
// directions at full speed each; where a level is shared there is one per component (a server's
// network card), else one per worker. Traffic between two workers uses the links of the innermost
// level that joins them: that of the sender outwards, that of the receiver inwards. Immutable.
class Links {
 public:
  explicit Links(const cluster::Cluster& cluster);

  [[nodiscard]] int workers() const { return workers_; }
  [[nodiscard]] std::size_t levels() const { return levels_.size(); }
  [[nodiscard]] const cluster::Level& level(std::size_t k) const { return levels_[k].level; }
  // Which component of `level` the worker is in; level 0 has components of one worker.
  [[nodiscard]] int component(std::size_t k, int worker) const {
    return worker / levels_[k].inside;
  }
  [[nodiscard]] std::size_t group(std::size_t k, int worker) const {  // that the level joins
    return static_cast<std::size_t>(worker / levels_[k].group);
  }
  [[nodiscard]] std::size_t link(std::size_t k, int worker) const {
    return static_cast<std::size_t>(levels_[k].level.shared ? component(k, worker) : worker);
  }
  [[nodiscard]] int link_count(std::size_t k) const {
    return levels_[k].level.shared ? workers_ / levels_[k].inside : workers_;
  }
  // How many workers one component holds.
  [[nodiscard]] int inside(std::size_t k) const { return levels_[k].inside; }
  // cluster::hosts(), which decide whether a ring has two levels (core/hosts.h).
  [[nodiscard]] const std::vector<int>& hosts() const { return hosts_; }

 private:
  struct Joined {
    cluster::Level level;
    int inside;
    int group;
  };
  int workers_;
  std::vector<Joined> levels_;
  std::vector<int> hosts_;
};

// `bytes` from one worker to another when nothing else uses the links: the latency and bandwidth
// of the innermost level that joins them.
[[nodiscard]] Nanos transfer_time(const cluster::Cluster& cluster, WorkerId from, WorkerId to,
                                  Bytes bytes);

// What something that moves bytes takes of one link, in one direction.
struct LinkUse {
  std::size_t level = 0;
  std::size_t link = 0;
  bool outwards = true;
  double bytes = 0;
  friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

// One byte from one worker to another.
[[nodiscard]] std::vector<LinkUse> transfer_uses(const Links& links, WorkerId from, WorkerId to);
// One byte of weights, averaged over the group: what goes one after another. A ring of two levels
// is first within the hosts, then between them; all else is one.
[[nodiscard]] std::vector<std::vector<LinkUse>> exchange_uses(const Links& links,
                                                              std::span<const WorkerId> group,
                                                              Exchange pattern);
// One byte of weights from a worker to the servers, which are all of the group, a shard each. What
// it fetches takes the same links the other way.
[[nodiscard]] std::vector<LinkUse> push_uses(const Links& links, WorkerId from,
                                             std::span<const WorkerId> group);
[[nodiscard]] std::vector<LinkUse> pull_uses(const Links& links, WorkerId to,
                                             std::span<const WorkerId> group);

// A ring of two levels over g workers in each of h components of the outer level, per byte of
// weights and without its latencies: inside at 2(g−1)/g·W a worker, then between the components at
// 2(h−1)/h·W for each of them, or an equal part of that for each worker where they have links of
// their own. Requires a cluster that has hosts().
[[nodiscard]] Seconds two_rings_per_byte(const Links& links, int g, int h);

// What an averaging takes apart from its bytes: a latency per step. A ring of m has 2(m−1); one of
// two levels, with g on each of h hosts, 2(g−1) inside and 2(h−1) between.
[[nodiscard]] Nanos exchange_latency(const Links& links, std::span<const WorkerId> group,
                                     Exchange pattern);

// One round of averaging `weights` over the group when nothing else uses the links.
[[nodiscard]] Seconds exchange_time(const Links& links, std::span<const WorkerId> group,
                                    double weights, Exchange pattern);

// What a plan asks of the links, in bytes per minibatch.
class LinkLoads {
 public:
  explicit LinkLoads(const Links& links);

  // `bytes` of each minibatch go from its replica of the one stage to its replica of the other
  // (replica = minibatch mod count), and as many, as gradients, back. Returns the outermost level
  // that some minibatch passes; nullopt when both ends are always the same worker.
  std::optional<std::size_t> add_transfer(std::span<const WorkerId> from,
                                          std::span<const WorkerId> to, double bytes);
  // The group averages `weights` bytes, `rounds` times per minibatch.
  void add_exchange(std::span<const WorkerId> group, double weights, Exchange pattern,
                    double rounds);

  struct Busiest {
    std::size_t level = 0;
    std::size_t link = 0;
    double bytes = 0;  // in the busier direction
    Seconds time{0};
  };
  [[nodiscard]] Busiest busiest() const;
  // Every link that carries anything, by level, link and direction.
  [[nodiscard]] std::vector<LinkUse> uses() const;
  // The bytes that leave any worker.
  [[nodiscard]] double bytes_in_all() const { return total_; }

 private:
  struct Load {
    double out = 0;
    double in = 0;
  };
  void count(std::span<const WorkerId> here, std::span<const WorkerId> there, std::size_t first,
             std::size_t step, double bytes_per_pair, std::optional<std::size_t>& outermost);
  void add_ring(std::span<const WorkerId> group, double weights);
  void add_two_rings(const std::vector<std::vector<WorkerId>>& hosts, double weights);
  void add_all_to_all(std::span<const WorkerId> group, double bytes_per_pair);

  const Links& links_;
  std::vector<std::vector<Load>> loads_;  // by level, by link
  std::vector<int> in_component_;         // scratch of count(): zero between calls
  std::vector<int> in_group_;
  double total_ = 0;
};

}  // namespace pipedream::cost
