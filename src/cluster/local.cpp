#include "cluster/local.h"

#include "core/machine.h"

namespace pipedream::cluster {
namespace {

// A rough guess is enough: threads hand over memory without a copy and processes copy it, and both
// take little time compared with compute.
constexpr Bandwidth kMemory{10e9};
constexpr Nanos kHandOver{5'000};

}  // namespace

Cluster this_machine(int workers, std::optional<Bandwidth> link, std::optional<Bytes> memory) {
  const Bytes share = memory.value_or(Bytes{physical_memory().count / workers});
  return {"this machine",
          {{.name = link ? "link" : "memory",
            .count = workers,
            .bandwidth = link.value_or(kMemory),
            .latency = kHandOver}},
          std::vector<Device>(static_cast<std::size_t>(workers), Device{share})};
}

}  // namespace pipedream::cluster
