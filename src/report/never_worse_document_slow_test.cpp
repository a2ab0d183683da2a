// docs/never_worse.md says what `./run bench never_worse` says.
#include <cstdio>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "cluster/cluster_file.h"
#include "core/file.h"
#include "core/testing.h"
#include "profile/profile_file.h"
#include "report/never_worse_table.h"

namespace pipedream::report {
namespace {

const std::map<std::string, std::int64_t> kBatches{
    {"alexnet", 256}, {"inception_v3", 128}, {"resnet50", 128}, {"vgg16", 128}};

// "| alexnet | a-1x4 | …" → alexnet, a-1x4.
std::pair<std::string, std::string> model_and_cluster(const std::string& line) {
  std::istringstream words(line);
  std::string bar, model, cluster;
  words >> bar >> model >> bar >> cluster;
  return {model, cluster};
}

TEST(SlowNeverWorseDocument, HasTheRowsThatThePlannersGiveToday) {
  const auto profiles = test::shared_data() / "profiles";
  if (!std::filesystem::is_directory(profiles)) {
    std::printf("skipped: there is no folder %s\n", profiles.c_str());
    GTEST_SKIP();
  }
  std::istringstream document(read_file(PD_SOURCE_DIR "/docs/never_worse.md"));
  int rows = 0;
  for (std::string line; std::getline(document, line);) {
    const auto [model, cluster] = model_and_cluster(line);
    if (!line.starts_with("| ") || model == "model") continue;
    ++rows;
    profile::Profile profile = profile::read_profile(profiles / (model + ".graph.txt"));
    if (kBatches.contains(model)) profile.batch = kBatches.at(model);
    systems::Comparison now = systems::compare_plans(
        profile, cluster::read_cluster(PD_SOURCE_DIR "/examples/clusters/" + cluster + ".toml"));
    EXPECT_EQ(systems::better_ones(now), std::vector<std::string>{}) << line;
    now.cluster = cluster;
    const std::string table = never_worse_table({&now, 1});
    EXPECT_NE(table.find(line + "\n"), std::string::npos)
        << "in the document: " << line << "\nnow:             " << table;
  }
  EXPECT_EQ(rows, 30) << "six models on five clusters";
}

}  // namespace
}  // namespace pipedream::report
