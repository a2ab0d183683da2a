// A profile as text for people.
#pragma once

#include <string>

#include "profile/profile.h"

namespace pipedream::report {

// Returns a table with one row per layer, in the order of the network, with its times and its share
// of the whole time. Update times are shown if the profile has any. The fewest layers that together
// take half of the time are marked. If there are more layers than `most_rows`, only the heaviest
// are shown, and a line says how many are not. Below the table are the sums, and how far they are
// from the measured time of the whole model.
[[nodiscard]] std::string profile_table(const profile::Profile& profile, std::size_t most_rows);

// Returns how much the sum of the layers' times exceeds the time of the whole model, as a share of
// the latter. It is negative if the sum is smaller. Requires `profile.whole` above 0.
[[nodiscard]] double sum_error(const profile::Profile& profile);

}  // namespace pipedream::report
