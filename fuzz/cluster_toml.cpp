// Fuzzes the parser of cluster files. A cluster that is read must survive being written and read.
#include "cluster/cluster_file.h"
#include "property.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::reads_or_refuses<BadFile>("file.toml", [&] {
    const auto cluster = cluster::parse_cluster(fuzz::text_of(data, size), "file.toml");
    // Larger clusters are not written: with a million different workers that would take a second.
    if (cluster.workers() <= 1000)
      PD_CHECK(cluster::parse_cluster(cluster::to_toml(cluster), "again") == cluster);
  });
  return 0;
}
