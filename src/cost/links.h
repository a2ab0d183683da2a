// Time on the links of a cluster: of one transfer, of one averaging of gradients (an exchange), and
// the load that a whole plan puts on each link per minibatch (docs/planner.md#the-cost-model).
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

// Returns how many bytes each of m members of a group sends per byte that the group averages.
[[nodiscard]] constexpr double exchange_share(int m) { return 2.0 * (m - 1) / m; }

// The links of a cluster, in a form that answers quickly. Every link belongs to one level of the
// cluster and carries traffic in two directions, at full speed in each. A shared level has one link
// per component that it joins (a server's network card); any other level has one link per worker.
// Traffic between two workers uses the innermost level that joins them: the sender's link outwards,
// the receiver's link inwards. Immutable, so any thread may use it.
class Links {
 public:
  explicit Links(const cluster::Cluster& cluster);

  [[nodiscard]] int workers() const { return workers_; }
  [[nodiscard]] std::size_t levels() const { return levels_.size(); }
  [[nodiscard]] const cluster::Level& level(std::size_t k) const { return levels_[k].level; }
  // Returns the number of the component that `worker` is in, among all components that level `k`
  // joins. The components that level 0 joins are the workers.
  [[nodiscard]] int component(std::size_t k, int worker) const {
    return worker / levels_[k].inside;
  }
  // Returns the number of the group of components, joined by level `k`, that `worker` is in.
  [[nodiscard]] std::size_t group(std::size_t k, int worker) const {
    return static_cast<std::size_t>(worker / levels_[k].group);
  }
  // Returns the number of the link of level `k` that carries the traffic of `worker`.
  [[nodiscard]] std::size_t link(std::size_t k, int worker) const {
    return static_cast<std::size_t>(levels_[k].level.shared ? component(k, worker) : worker);
  }
  [[nodiscard]] int link_count(std::size_t k) const {
    return levels_[k].level.shared ? workers_ / levels_[k].inside : workers_;
  }
  // Returns the number of workers in one of the components that level `k` joins.
  [[nodiscard]] int inside(std::size_t k) const { return levels_[k].inside; }
  // Returns cluster::hosts(), which decides whether a ring has two levels (core/hosts.h).
  [[nodiscard]] const std::vector<int>& hosts() const { return hosts_; }

 private:
  struct Joined {
    cluster::Level level;
    int inside;  // workers in one of the components that the level joins
    int group;   // workers in one group of joined components
  };
  int workers_;
  std::vector<Joined> levels_;
  std::vector<int> hosts_;
};

// Returns the time to send `bytes` from one worker to another if nothing else uses the links, by
// the latency and bandwidth of the innermost level that joins them.
[[nodiscard]] Nanos transfer_time(const cluster::Cluster& cluster, WorkerId from, WorkerId to,
                                  Bytes bytes);

// Bytes that pass one link in one direction.
struct LinkUse {
  std::size_t level = 0;
  std::size_t link = 0;  // as Links::link() numbers them
  bool outwards = true;  // from the worker to the level; false: towards the worker
  double bytes = 0;
  friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

// Returns the use of all links by one byte that goes from one worker to another.
[[nodiscard]] std::vector<LinkUse> transfer_uses(const Links& links, WorkerId from, WorkerId to);
// Returns the use of all links by one averaging of one byte of weights over `group`, as phases that
// run one after the other. A ring of two levels has two phases: inside the hosts, then between
// them. Every other averaging has one.
[[nodiscard]] std::vector<std::vector<LinkUse>> exchange_uses(const Links& links,
                                                              std::span<const WorkerId> group,
                                                              Exchange pattern);
// Returns the use of all links by one byte of weights that worker `from` pushes to the parameter
// servers. Every member of `group` is the server of one equal shard.
[[nodiscard]] std::vector<LinkUse> push_uses(const Links& links, WorkerId from,
                                             std::span<const WorkerId> group);
// Returns the use of all links by one byte of weights that worker `to` fetches from the parameter
// servers: the links of push_uses(), in the other direction.
[[nodiscard]] std::vector<LinkUse> pull_uses(const Links& links, WorkerId to,
                                             std::span<const WorkerId> group);

// Returns the time of a ring of two levels per byte of weights, without latencies. The ring is over
// `g` workers in each of `h` components of the outer level. For W bytes, each worker first sends
// 2(g−1)/g·W inside its component. Then each component sends 2(h−1)/h·W to the others, over its
// shared link or in equal parts over the links of its workers. Requires a cluster with hosts().
[[nodiscard]] Seconds two_rings_per_byte(const Links& links, int g, int h);

// Returns the part of an averaging's time that does not depend on its bytes: one latency per step.
// A ring of m workers has 2(m−1) steps. A ring of two levels, with g workers on each of h hosts,
// has 2(g−1) steps inside and 2(h−1) steps between the hosts. Other patterns have 2 steps. The
// latency of a step is the largest of the levels that it uses.
[[nodiscard]] Nanos exchange_latency(const Links& links, std::span<const WorkerId> group,
                                     Exchange pattern);

// Returns the time of one averaging of `weights` bytes over `group` if nothing else uses the links;
// 0 for a group of one.
[[nodiscard]] Seconds exchange_time(const Links& links, std::span<const WorkerId> group,
                                    double weights, Exchange pattern);

// The bytes that a plan sends over each link per minibatch. Keeps a reference to its Links. Not for
// use by several threads at once.
class LinkLoads {
 public:
  explicit LinkLoads(const Links& links);

  // Adds the traffic between two stages. `from` and `to` are their replicas; minibatch b is on
  // replica b mod r of a stage with r replicas. Each minibatch sends `bytes` of values from its
  // replica of the one stage to its replica of the other, and the same number of bytes of gradients
  // back. Returns the outermost level that some minibatch passes; nullopt if every minibatch has
  // both stages on the same worker.
  std::optional<std::size_t> add_transfer(std::span<const WorkerId> from,
                                          std::span<const WorkerId> to, double bytes);
  // Adds the traffic of `group` averaging `weights` bytes, `rounds` times per minibatch.
  void add_exchange(std::span<const WorkerId> group, double weights, Exchange pattern,
                    double rounds);

  // The link that needs the most time for its load.
  struct Busiest {
    std::size_t level = 0;
    std::size_t link = 0;  // as Links::link() numbers them
    double bytes = 0;      // per minibatch, in the busier direction
    Seconds time{0};       // per minibatch, for `bytes`
  };
  [[nodiscard]] Busiest busiest() const;
  // Returns every link and direction that carries anything, in the order of levels and links.
  [[nodiscard]] std::vector<LinkUse> uses() const;
  // Returns the bytes that all workers together send per minibatch.
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
  std::vector<std::vector<Load>> loads_;  // by level, then by link
  std::vector<int> in_component_;         // scratch memory of count(); all 0 between calls
  std::vector<int> in_group_;             // scratch memory of count(); all 0 between calls
  double total_ = 0;
};

}  // namespace pipedream::cost
