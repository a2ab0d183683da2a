#include "transport/all_reduce.h"

#include "core/hosts.h"
#include "transport/ring.h"
#include "transport/shards.h"
#include "transport/sums.h"

namespace pipedream::transport {

Summed all_reduce(Transport& transport, std::span<const WorkerId> members, int tag,
                  std::span<float> values, const Way& way, Deadline deadline,
                  const std::shared_ptr<const void>& owner) {
  if (members.size() == 1) return {};
  PD_CHECK(owner || !way.reads_memory);
  const std::shared_ptr<const void> readable = way.reads_memory ? owner : nullptr;
  Exchanger exchanger(transport, tag, deadline);
  if (way.exchange != Exchange::kRing)
    sum_by_shards(exchanger, members, values);
  else if (const auto hosts = two_levels(members, way.host_of); !hosts.empty())
    sum_by_two_rings(exchanger, hosts, values, readable);
  else
    sum_by_ring(exchanger, members, values, readable);
  return {exchanger.waited(), exchanger.sent()};
}

}  // namespace pipedream::transport
