#include "cli/flags.h"

#include "core/error.h"
#include "profile/profile_file.h"

namespace pipedream::cli {

profile::Profile read_profile_for(const std::string& file, std::optional<std::int64_t> batch) {
  profile::Profile profile = profile::read_profile(file);
  if (batch && profile.batch && *batch != *profile.batch)
    throw CannotMeet("--batch " + std::to_string(*batch) + ": " + file + " was measured with " +
                     std::to_string(*profile.batch) + "; profile the model anew");
  if (batch) profile.batch = batch;
  return profile;
}

}  // namespace pipedream::cli
