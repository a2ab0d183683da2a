// A profile as text for people.
#pragma once

#include <string>

#include "profile/profile.h"

namespace pipedream::report {

// One row per layer in order, with its share of the time; updates where the profile has any; the
// heaviest layers, which together take half of it, are marked. With more layers than `most_rows`
// only the heaviest are shown, and a line says how many are not. Below: the sums, and how far they
// are from the whole model's time.
[[nodiscard]] std::string profile_table(const profile::Profile& profile, std::size_t most_rows);

// How far the sum of the layers' times is from the time of the whole model, as a share of the
// latter; positive when the sum is larger. Requires profile.whole above 0.
[[nodiscard]] double sum_error(const profile::Profile& profile);

}  // namespace pipedream::report
