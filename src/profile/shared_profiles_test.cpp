// Tests on the profiles that PipeDream's authors measured. They are not part of this project; the
// tests are skipped if core/shared_data.h does not find them.
#include <map>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "profile/profile_file.h"
#include "profile/profile_testing.h"

namespace pipedream::profile {
namespace {

class SharedProfiles : public test::WithSharedProfiles {
 protected:
  static std::map<std::string, Profile> all() {
    std::map<std::string, Profile> profiles;
    for (const auto& entry : std::filesystem::directory_iterator(test::shared_profiles()))
      if (entry.path().string().ends_with(".graph.txt"))
        profiles[entry.path().filename().string()] = read_profile(entry.path());
    return profiles;
  }
};

std::size_t edges_of(const graph::Graph& graph) {
  std::size_t edges = 0;
  for (const graph::Layer& layer : graph.layers()) edges += layer.inputs.size();
  return edges;
}

TEST_F(SharedProfiles, HaveTheNodesAndEdgesOfTheirTable) {
  using Counts = std::pair<std::size_t, std::size_t>;
  const std::map<std::string, Counts> wanted{
      {"alexnet", {23, 23}},       {"vgg16", {41, 41}},      {"gnmt", {48, 58}},
      {"squeezenet1_0", {68, 76}}, {"resnet50", {177, 193}}, {"inception_v3", {326, 362}}};
  std::map<std::string, Counts> found;
  for (const auto& [name, profile] : all())
    found[profile.model] = {profile.graph.layers().size(), edges_of(profile.graph)};
  EXPECT_EQ(found, wanted);
}

TEST_F(SharedProfiles, SurviveTheRoundTripThroughJson) {
  for (const auto& [name, profile] : all()) {
    const Profile again = parse_profile_json(to_json(profile), name + ".json");
    EXPECT_EQ(difference(again, profile), "") << name;
  }
}

TEST_F(SharedProfiles, OfVgg16HasTheWeightsAndTimesOfItsFile) {
  const Profile vgg = read_profile(test::shared_profiles() / "vgg16.graph.txt");
  EXPECT_EQ(total_weights(vgg).count, 4 * 138'357'544);  // VGG-16's parameters, as 4-byte floats
  const auto first = vgg.graph.find("node2");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(vgg.cost(*first).forward, Nanos(22'307'000));
}

TEST_F(SharedProfiles, OfGnmtHasThreeInputsWhoseTimeIsNotCompute) {
  const Profile gnmt = read_profile(test::shared_profiles() / "gnmt.graph.txt");
  int inputs = 0;
  for (const graph::Layer& layer : gnmt.graph.layers()) inputs += layer.is_input ? 1 : 0;
  EXPECT_EQ(inputs, 3);
}

}  // namespace
}  // namespace pipedream::profile
