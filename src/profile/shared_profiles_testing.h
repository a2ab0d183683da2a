// The profiles that PipeDream's authors measured, for tests and benchmarks (core/shared_data.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/shared_data.h"
#include "profile/profile_file.h"

namespace pipedream::profile {

// The name of each profile, and the samples of one minibatch; nullopt if the README of the profiles
// does not tell them.
inline const std::map<std::string, std::optional<std::int64_t>> kSharedProfiles{
    {"alexnet", 256},  {"gnmt", std::nullopt},          {"inception_v3", 128},
    {"resnet50", 128}, {"squeezenet1_0", std::nullopt}, {"vgg16", 128}};

// Reads the profile `name` of `kSharedProfiles` and sets its `batch`.
[[nodiscard]] inline Profile read_shared_profile(const std::string& name) {
  Profile profile = read_profile(test::shared_profiles() / (name + ".graph.txt"));
  profile.batch = kSharedProfiles.at(name);
  return profile;
}

}  // namespace pipedream::profile
