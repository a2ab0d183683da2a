// The table in docs/never_worse.md is the one that `./run bench never_worse` prints.
#include <sstream>

#include <gtest/gtest.h>

#include "cluster/cluster_file.h"
#include "core/file.h"
#include "core/testing.h"
#include "profile/shared_profiles_testing.h"
#include "tables/never_worse_table.h"

namespace pipedream::bench {
namespace {

// The model and cluster of a line of the table: "| alexnet | a-1x4 | …" → alexnet, a-1x4.
std::pair<std::string, std::string> model_and_cluster(const std::string& line) {
  std::istringstream words(line);
  std::string bar, model, cluster;
  words >> bar >> model >> bar >> cluster;
  return {model, cluster};
}

class SlowNeverWorseDocument : public test::WithSharedProfiles {};

TEST_F(SlowNeverWorseDocument, HasTheRowsThatThePlannersGiveToday) {
  std::istringstream document(read_file(PD_SOURCE_DIR "/docs/never_worse.md"));
  int rows = 0;
  for (std::string line; std::getline(document, line);) {
    const auto [model, cluster] = model_and_cluster(line);
    if (!line.starts_with("| ") || model == "model") continue;
    ++rows;
    Comparison now = compare_plans(
        profile::read_shared_profile(model),
        cluster::read_cluster(PD_SOURCE_DIR "/examples/clusters/" + cluster + ".toml"));
    EXPECT_EQ(better_ones(now), std::vector<std::string>{}) << line;
    now.cluster = cluster;
    const std::string table = never_worse_table({&now, 1});
    EXPECT_NE(table.find(line + "\n"), std::string::npos)
        << "in the document: " << line << "\nnow:             " << table;
  }
  EXPECT_EQ(rows, 30) << "six models on five clusters";
}

}  // namespace
}  // namespace pipedream::bench
