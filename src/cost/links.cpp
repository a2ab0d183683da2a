#include "cost/links.h"

#include <algorithm>
#include <numeric>

#include "core/hosts.h"

namespace pipedream::cost {

Links::Links(const cluster::Cluster& cluster)
    : workers_(cluster.workers()), hosts_(cluster::hosts(cluster)) {
  int inside = 1;
  for (const cluster::Level& level : cluster.levels) {
    levels_.push_back({level, inside, inside * level.count});
    inside *= level.count;
  }
}

namespace {

// Returns the innermost level that joins `a` and `b`. Requires two different workers.
std::size_t level_between(const Links& links, int a, int b) {
  std::size_t k = 0;
  while (links.group(k, a) != links.group(k, b)) ++k;
  return k;
}

}  // namespace

Nanos transfer_time(const cluster::Cluster& cluster, WorkerId from, WorkerId to, Bytes bytes) {
  const cluster::Level& level = cluster.levels[cluster.level_between(from, to)];
  return level.latency +
         from_seconds(static_cast<double>(bytes.count) / level.bandwidth.bytes_per_second);
}

namespace {

std::vector<WorkerId> in_worker_order(std::span<const WorkerId> group) {
  std::vector<WorkerId> sorted(group.begin(), group.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// The members of a group on each host, in worker order, if the group averages by a ring of two
// levels; else empty.
using Hosts = std::vector<std::vector<WorkerId>>;
Hosts hosts_of(const Links& links, std::span<const WorkerId> group, Exchange pattern) {
  if (pattern != Exchange::kRing || links.hosts().empty()) return {};
  return two_levels(in_worker_order(group), links.hosts());
}

// Returns the ring of those members that are number `place` on their hosts.
std::vector<WorkerId> across(const Hosts& hosts, std::size_t place) {
  std::vector<WorkerId> ring;
  for (const std::vector<WorkerId>& host : hosts) ring.push_back(host[place]);
  return ring;
}

// Returns the time in which every member of `ring` sends `volume` bytes to the next one, without
// latencies. `ring` is in worker order, so it enters and leaves each component once, and no link
// carries more than one edge of the ring in either direction. Hence the slowest edge decides.
Seconds ring_time(const Links& links, const std::vector<WorkerId>& ring, double volume) {
  Seconds slowest{0};
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const int next = ring[(i + 1) % ring.size()].value;
    const cluster::Level& level = links.level(level_between(links, ring[i].value, next));
    slowest = std::max(slowest, Seconds(volume / level.bandwidth.bytes_per_second));
  }
  return slowest;
}

// Returns the largest latency of all levels that join members of the group. `sorted` is in worker
// order.
Nanos largest_latency(const Links& links, const std::vector<WorkerId>& sorted) {
  Nanos latency{0};
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const std::size_t k = level_between(links, sorted[i - 1].value, sorted[i].value);
    latency = std::max(latency, links.level(k).latency);
  }
  return latency;
}

// Returns the latency of all steps of a ring over `sorted`, which is in worker order.
Nanos ring_latency(const Links& links, const std::vector<WorkerId>& sorted) {
  return 2 * (std::ssize(sorted) - 1) * largest_latency(links, sorted);
}

// Returns exchange_latency() for `hosts` = hosts_of(links, group, pattern).
Nanos latency_of(const Links& links, std::span<const WorkerId> group, Exchange pattern,
                 const Hosts& hosts) {
  if (!hosts.empty())
    return ring_latency(links, hosts.front()) + ring_latency(links, across(hosts, 0));
  if (group.size() < 2) return Nanos{0};
  const std::vector<WorkerId> sorted = in_worker_order(group);
  return pattern == Exchange::kRing ? ring_latency(links, sorted)
                                    : 2 * largest_latency(links, sorted);
}

}  // namespace

Seconds two_rings_per_byte(const Links& links, int g, int h) {
  const cluster::Level& inside = links.level(0);
  const cluster::Level& between = links.level(1);
  const double on_one_link = exchange_share(h) / (between.shared ? 1 : g);
  return Seconds(exchange_share(g) / inside.bandwidth.bytes_per_second +
                 on_one_link / between.bandwidth.bytes_per_second);
}

Nanos exchange_latency(const Links& links, std::span<const WorkerId> group, Exchange pattern) {
  return latency_of(links, group, pattern, hosts_of(links, group, pattern));
}

Seconds exchange_time(const Links& links, std::span<const WorkerId> group, double weights,
                      Exchange pattern) {
  if (group.size() < 2) return Seconds(0);
  const Hosts hosts = hosts_of(links, group, pattern);
  const Seconds latency = latency_of(links, group, pattern, hosts);
  if (!hosts.empty())
    return two_rings_per_byte(links, static_cast<int>(hosts.front().size()),
                              static_cast<int>(hosts.size())) *
               weights +
           latency;
  if (pattern == Exchange::kRing) {
    const double volume = exchange_share(static_cast<int>(group.size())) * weights;
    return ring_time(links, in_worker_order(group), volume) + latency;
  }
  LinkLoads loads(links);
  loads.add_exchange(group, weights, pattern, 1);
  return loads.busiest().time + latency;
}

LinkLoads::LinkLoads(const Links& links) : links_(links), loads_(links.levels()) {
  for (std::size_t k = 0; k < loads_.size(); ++k) {
    loads_[k].resize(static_cast<std::size_t>(links.link_count(k)));
  }
  in_component_.resize(static_cast<std::size_t>(links.workers()));
  in_group_.resize(static_cast<std::size_t>(links.workers()));
}

// Replica i of the senders meets replica j of the receivers exactly when i ≡ j modulo the greatest
// common divisor of the counts, and all such pairs meet equally often.
std::optional<std::size_t> LinkLoads::add_transfer(std::span<const WorkerId> from,
                                                   std::span<const WorkerId> to, double bytes) {
  std::optional<std::size_t> outermost;
  const std::size_t divisor = std::gcd(from.size(), to.size());
  const double pairs = static_cast<double>(from.size()) * static_cast<double>(to.size()) /
                       static_cast<double>(divisor);
  for (std::size_t first = 0; first < divisor; ++first) {
    count(from, to, first, divisor, bytes / pairs, outermost);
    count(to, from, first, divisor, bytes / pairs, outermost);
  }
  return outermost;
}

// Adds the traffic of every `step`-th member of `here` with every `step`-th member of `there`, both
// from number `first` on. Each pair exchanges `bytes_per_pair` in each direction. Loads only the
// links of the members of `here`, level by level, and raises `outermost` to the outermost level
// used.
void LinkLoads::count(std::span<const WorkerId> here, std::span<const WorkerId> there,
                      std::size_t first, std::size_t step, double bytes_per_pair,
                      std::optional<std::size_t>& outermost) {
  for (std::size_t k = 0; k < loads_.size(); ++k) {
    const auto add = [&](int by) {
      for (std::size_t j = first; j < there.size(); j += step) {
        in_component_[static_cast<std::size_t>(links_.component(k, there[j].value))] += by;
        in_group_[links_.group(k, there[j].value)] += by;
      }
    };
    add(1);
    for (std::size_t i = first; i < here.size(); i += step) {
      const int worker = here[i].value;
      const int others = in_group_[links_.group(k, worker)] -
                         in_component_[static_cast<std::size_t>(links_.component(k, worker))];
      if (others == 0) continue;
      const double sent = others * bytes_per_pair;
      Load& load = loads_[k][links_.link(k, worker)];
      load.out += sent;
      load.in += sent;
      total_ += sent;
      if (!outermost || *outermost < k) outermost = k;
    }
    add(-1);
  }
}

void LinkLoads::add_exchange(std::span<const WorkerId> group, double weights, Exchange pattern,
                             double rounds) {
  if (group.size() < 2) return;
  if (const Hosts hosts = hosts_of(links_, group, pattern); !hosts.empty())
    add_two_rings(hosts, weights * rounds);
  else if (pattern != Exchange::kRing)
    add_all_to_all(group, 2 * weights / static_cast<double>(group.size()) * rounds);
  else
    add_ring(group, weights * rounds);
}

void LinkLoads::add_two_rings(const Hosts& hosts, double weights) {
  for (const std::vector<WorkerId>& host : hosts) add_ring(host, weights);
  const std::size_t inside = hosts.front().size();
  for (std::size_t place = 0; place < inside; ++place)
    add_ring(across(hosts, place), weights / static_cast<double>(inside));
}

void LinkLoads::add_ring(std::span<const WorkerId> group, double weights) {
  const std::vector<WorkerId> ring = in_worker_order(group);
  const double volume = exchange_share(static_cast<int>(group.size())) * weights;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const int from = ring[i].value;
    const int to = ring[(i + 1) % ring.size()].value;
    const std::size_t k = level_between(links_, from, to);
    loads_[k][links_.link(k, from)].out += volume;
    loads_[k][links_.link(k, to)].in += volume;
    total_ += volume;
  }
}

void LinkLoads::add_all_to_all(std::span<const WorkerId> group, double bytes_per_pair) {
  std::optional<std::size_t> outermost;
  count(group, group, 0, 1, bytes_per_pair, outermost);
}

LinkLoads::Busiest LinkLoads::busiest() const {
  Busiest found;
  for (std::size_t k = 0; k < loads_.size(); ++k)
    for (std::size_t link = 0; link < loads_[k].size(); ++link) {
      const double bytes = std::max(loads_[k][link].out, loads_[k][link].in);
      const Seconds time(bytes / links_.level(k).bandwidth.bytes_per_second);
      if (time > found.time) found = {k, link, bytes, time};
    }
  return found;
}

std::vector<LinkUse> LinkLoads::uses() const {
  std::vector<LinkUse> uses;
  for (std::size_t k = 0; k < loads_.size(); ++k)
    for (std::size_t link = 0; link < loads_[k].size(); ++link) {
      if (loads_[k][link].out > 0) uses.push_back({k, link, true, loads_[k][link].out});
      if (loads_[k][link].in > 0) uses.push_back({k, link, false, loads_[k][link].in});
    }
  return uses;
}

std::vector<LinkUse> transfer_uses(const Links& links, WorkerId from, WorkerId to) {
  const std::size_t k = level_between(links, from.value, to.value);
  return {{k, links.link(k, from.value), true, 1}, {k, links.link(k, to.value), false, 1}};
}

std::vector<std::vector<LinkUse>> exchange_uses(const Links& links, std::span<const WorkerId> group,
                                                Exchange pattern) {
  LinkLoads loads(links);
  loads.add_exchange(group, 1, pattern, 1);
  std::vector<LinkUse> all = loads.uses();
  if (hosts_of(links, group, pattern).empty()) return {std::move(all)};
  // uses() is in the order of levels. Level 0 is inside the hosts, the others are between them.
  const auto outer =
      std::find_if(all.begin(), all.end(), [](const LinkUse& use) { return use.level > 0; });
  return {{all.begin(), outer}, {outer, all.end()}};
}

namespace {

// Adds `added` to `uses`, which has one entry per link and direction.
void add_use(std::vector<LinkUse>& uses, const LinkUse& added) {
  for (LinkUse& use : uses)
    if (use.level == added.level && use.link == added.link && use.outwards == added.outwards) {
      use.bytes += added.bytes;
      return;
    }
  uses.push_back(added);
}

// Returns push_uses() of `worker` if `push`, else pull_uses().
std::vector<LinkUse> shard_uses(const Links& links, WorkerId worker,
                                std::span<const WorkerId> group, bool push) {
  std::vector<LinkUse> uses;
  const double shard = 1 / static_cast<double>(group.size());
  for (const WorkerId other : group) {
    if (other == worker) continue;
    const std::size_t k = level_between(links, worker.value, other.value);
    add_use(uses, {k, links.link(k, worker.value), push, shard});
    add_use(uses, {k, links.link(k, other.value), !push, shard});
  }
  return uses;
}

}  // namespace

std::vector<LinkUse> push_uses(const Links& links, WorkerId from, std::span<const WorkerId> group) {
  return shard_uses(links, from, group, true);
}

std::vector<LinkUse> pull_uses(const Links& links, WorkerId to, std::span<const WorkerId> group) {
  return shard_uses(links, to, group, false);
}

}  // namespace pipedream::cost
