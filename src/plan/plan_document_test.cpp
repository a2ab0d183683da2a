// Checks that the example in docs/formats.md is a valid plan file.
#include <gtest/gtest.h>

#include "core/file.h"
#include "core/testing.h"
#include "plan/plan_file.h"
#include "profile/profile_file.h"

namespace pipedream::plan {
namespace {

TEST(PlanDocument, HoldsAPlanForTheSmallExample) {
  const profile::Profile profile =
      profile::read_profile(PD_SOURCE_DIR "/examples/profiles/small.graph.txt");
  const auto blocks = test::fenced_blocks(read_file(PD_SOURCE_DIR "/docs/formats.md"), "json");
  ASSERT_EQ(blocks.size(), 5U) << "profile, plan, training configuration, manifest, vocabulary";
  const PlanFile file = parse_plan(blocks[1], "docs/formats.md", profile.graph);
  EXPECT_EQ(file.model, "small");
  EXPECT_EQ(config_text(file.plan), "7-1");
  EXPECT_EQ(to_json(file, profile.graph), blocks[1]);
}

}  // namespace
}  // namespace pipedream::plan
