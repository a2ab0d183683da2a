// Prints the table of docs/headline.md (with --json: one JSON object): the paper's headline results
// next to ours. Speed-up over data parallelism and saved communication are simulated from the
// authors' own profiles.
#include <iostream>

#include <nlohmann/json.hpp>

#include "cluster/cluster_file.h"
#include "profile/shared_profiles_testing.h"
#include "tables/headline_table.h"

int main(int count, char** arguments) {
  using namespace pipedream;
  const bool as_json = count > 1 && std::string(arguments[1]) == "--json";
  std::vector<bench::Headline> rows;
  auto json = nlohmann::ordered_json::array();
  for (const bench::PublishedResult& published : bench::published_results()) {
    const profile::Profile profile = profile::read_shared_profile(published.model);
    const cluster::Cluster cluster =
        cluster::read_cluster(PD_SOURCE_DIR "/examples/clusters/" + published.cluster + ".toml");
    rows.push_back(bench::headline(published, profile, cluster));
    json.push_back(bench::headline_json(rows.back()));
  }
  if (as_json)
    std::cout << nlohmann::ordered_json{{"results", json}}.dump(2) << "\n";
  else
    std::cout << bench::headline_table(rows);
}
