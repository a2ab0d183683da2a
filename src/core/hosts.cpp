#include "core/hosts.h"

#include <algorithm>
#include <map>

#include "core/check.h"

namespace pipedream {

std::vector<std::vector<WorkerId>> two_levels(std::span<const WorkerId> members,
                                              std::span<const int> host_of) {
  if (host_of.empty()) return {};
  for (const WorkerId member : members) PD_CHECK(member.index() < host_of.size());
  std::vector<std::vector<WorkerId>> hosts;
  std::map<int, std::size_t> known;
  for (const WorkerId member : members) {
    const auto [place, is_new] = known.emplace(host_of[member.index()], hosts.size());
    if (is_new) hosts.emplace_back();
    hosts[place->second].push_back(member);
  }
  const auto uneven = [&](const auto& host) { return host.size() != hosts.front().size(); };
  if (hosts.size() < 2 || hosts.front().size() < 2 ||
      std::any_of(hosts.begin(), hosts.end(), uneven))
    return {};
  return hosts;
}

}  // namespace pipedream
