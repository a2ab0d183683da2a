#include "transport/all_reduce.h"

#include <map>

#include "transport/ring.h"
#include "transport/shards.h"
#include "transport/sums.h"

namespace pipedream::transport {

std::vector<std::vector<WorkerId>> two_levels(std::span<const WorkerId> members, const Way& way) {
  if (way.exchange != Exchange::kRing || way.host_of.empty()) return {};
  std::vector<std::vector<WorkerId>> hosts;
  std::map<int, std::size_t> known;
  for (const WorkerId member : members) {
    const auto [place, is_new] = known.emplace(way.host_of.at(member.index()), hosts.size());
    if (is_new) hosts.emplace_back();
    hosts[place->second].push_back(member);
  }
  const auto uneven = [&](const auto& host) { return host.size() != hosts.front().size(); };
  if (hosts.size() < 2 || hosts.front().size() < 2 ||
      std::any_of(hosts.begin(), hosts.end(), uneven))
    return {};
  return hosts;
}

Summed all_reduce(Transport& transport, std::span<const WorkerId> members, int tag,
                  std::span<float> values, const Way& way, Deadline deadline) {
  if (members.size() == 1) return {};
  Exchanger exchanger(transport, tag, deadline);
  if (way.exchange != Exchange::kRing)
    sum_by_shards(exchanger, members, values);
  else if (const auto hosts = two_levels(members, way); !hosts.empty())
    sum_by_two_rings(exchanger, hosts, values);
  else
    sum_by_ring(exchanger, members, values);
  return {exchanger.waited(), exchanger.sent()};
}

}  // namespace pipedream::transport
