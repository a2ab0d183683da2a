// Is our plan ever worse than a simpler one? Prints the table of docs/never_worse.md (with --json:
// one JSON object) for the profiles of PipeDream's authors on the paper's clusters.
#include <iostream>

#include <nlohmann/json.hpp>

#include "cluster/cluster_file.h"
#include "profile/shared_profiles_testing.h"
#include "tables/never_worse_table.h"

namespace {

using namespace pipedream;

const std::vector<std::string> kClusters{"a-1x4", "a-3x4", "a-4x4", "b-2x8", "c-4x1"};

nlohmann::ordered_json seconds(const std::optional<bench::TimedPlan>& plan) {
  if (!plan) return nullptr;
  return {{"config", plan->config}, {"seconds", plan->seconds}};
}

}  // namespace

int main(int count, char** arguments) {
  const bool as_json = count > 1 && std::string(arguments[1]) == "--json";
  std::vector<bench::Comparison> comparisons;
  auto results = nlohmann::ordered_json::array();
  bool never = true;
  for (const auto& [name, batch] : profile::kSharedProfiles) {
    const profile::Profile profile = profile::read_shared_profile(name);
    for (const std::string& cluster : kClusters) {
      bench::Comparison row = bench::compare_plans(
          profile, cluster::read_cluster(PD_SOURCE_DIR "/examples/clusters/" + cluster + ".toml"));
      row.cluster = cluster;
      never = never && bench::better_ones(row).empty();
      results.push_back({{"model", name},
                         {"cluster", cluster},
                         {"auto", row.chosen.value_or("")},
                         {"best", seconds(row.best)},
                         {"auto_for_speed", row.fastest.value_or("")},
                         {"fastest", seconds(row.speedy)},
                         {"ours", seconds(row.ours)},
                         {"data_parallel", seconds(row.data_parallel)},
                         {"straight", seconds(row.straight)},
                         {"hierarchical", seconds(row.hierarchical)},
                         {"dapple", seconds(row.dapple)},
                         {"all_but_one", seconds(row.all_but_one)},
                         {"better", bench::better_ones(row)}});
      comparisons.push_back(std::move(row));
    }
  }
  if (as_json)
    std::cout << nlohmann::ordered_json{{"never_worse", never}, {"results", results}}.dump(2)
              << "\n";
  else
    std::cout << bench::never_worse_table(comparisons);
  return never ? 0 : 1;
}
