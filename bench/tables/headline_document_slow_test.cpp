// The table in docs/headline.md is the one that `./run bench headline` prints.
#include <gtest/gtest.h>

#include "cluster/cluster_file.h"
#include "core/file.h"
#include "core/testing.h"
#include "profile/shared_profiles_testing.h"
#include "tables/headline_table.h"

namespace pipedream::bench {
namespace {

class SlowHeadlineDocument : public test::WithSharedProfiles {};

TEST_F(SlowHeadlineDocument, HasTheTableThatPlannerAndSimulatorGiveToday) {
  const std::string document = read_file(PD_SOURCE_DIR "/docs/headline.md");
  std::vector<Headline> rows;
  for (const PublishedResult& published : published_results())
    rows.push_back(headline(
        published, profile::read_shared_profile(published.model),
        cluster::read_cluster(PD_SOURCE_DIR "/examples/clusters/" + published.cluster + ".toml")));
  const std::string table = headline_table(rows);
  EXPECT_NE(document.find(table), std::string::npos) << "now it is:\n" << table;
}

}  // namespace
}  // namespace pipedream::bench
