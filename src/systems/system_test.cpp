#include "systems/system.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "cost/system_rules_testing.h"

namespace pipedream::systems {
namespace {

TEST(Systems, HaveAllThatTheyNeed) {
  std::set<std::string> names;
  for (const System& system : all_systems()) {
    EXPECT_TRUE(names.insert(system.name).second) << system.name << " is there twice";
    EXPECT_FALSE(system.about.empty()) << system.name;
    EXPECT_NE(system.plan, nullptr) << system.name;
    EXPECT_NE(system.time, nullptr) << system.name;
    EXPECT_NE(system.schedule, nullptr) << system.name;
  }
}

// Tests of modules below `systems` use the rules of cost/system_rules_testing.h.
TEST(Systems, HaveTheTraitsThatTestsTakeThemToHave) {
  const std::map<std::string, cost::SystemRules> known{
      {"pipedream", cost::kPipedream}, {"dapple", cost::kDapple},
      {"torchgpipe", cost::kGpipe},    {"gpipe", cost::kGpipe},
      {"2bw", cost::kTwoBuffered},     {"dp-bsp", cost::kDataParallel},
      {"mp", cost::kModelParallel},    {"interleaved", cost::kInterleaved},
      {"dp-asp", cost::kAsynchronous},
  };
  for (const auto& [name, rules] : known) {
    EXPECT_EQ(find_system(name).traits, rules.traits) << name;
    EXPECT_EQ(find_system(name).time, rules.time) << name;
  }
}

TEST(Systems, NoTwoArePreferredAlike) {
  std::set<int> preferences;
  for (const System& system : all_systems())
    if (system.preference) {
      EXPECT_TRUE(preferences.insert(*system.preference).second) << system.name;
    }
}

TEST(Systems, SynchronousOnesArePreferredToStaleWeights) {
  for (const System& synchronous : all_systems())
    for (const System& stale : all_systems()) {
      const bool compared = synchronous.preference && !synchronous.traits.is_stale() &&
                            stale.preference && stale.traits.is_stale();
      if (compared) {
        EXPECT_LT(*synchronous.preference, *stale.preference)
            << synchronous.name << " and " << stale.name;
      }
    }
}

TEST(Systems, OthersAreComparedWithDataParallelism) {
  EXPECT_EQ(data_parallel_system().name, "dp-bsp");
}

TEST(Systems, AreFoundByName) {
  for (const System& system : all_systems()) EXPECT_EQ(&find_system(system.name), &system);
}

TEST(Systems, AMisspeltNameGetsASuggestion) {
  EXPECT_EQ(test::message_of<BadUsage>([] { (void)find_system("gpip"); }),
            "there is no system 'gpip' (did you mean 'gpipe'?)");
  EXPECT_EQ(test::message_of<BadUsage>([] { (void)find_system("aut"); }),
            "there is no system 'aut' (did you mean 'auto'?)");
  std::string names = "auto";
  for (const System& system : all_systems()) names += ", " + system.name;
  EXPECT_EQ(test::message_of<BadUsage>([] { (void)find_system("megatron"); }),
            "there is no system 'megatron' (known: " + names + ")");
}

}  // namespace
}  // namespace pipedream::systems
