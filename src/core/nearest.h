// "Did you mean …?" for misspelt keys, names and units.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pipedream {

// Returns the candidate that takes the fewest edits to become `word`. An edit inserts, deletes or
// replaces a character, or swaps two neighbouring ones. Of candidates with equally few edits, the
// one that shares the longest beginning with `word` wins, then the first one. A candidate that
// begins with `word`, if `word` has at least 3 characters, counts as equal to it. Upper and lower
// case are the same, as are '-' and '_'.
// Returns an empty string if `word` has more than 64 characters, or if the edits exceed half the
// length of `word` without its leading dashes.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);

// Returns " (did you mean 'x'?)" with the nearest() candidate, or " (known: a, b, c)" with all
// candidates if nearest() finds none.
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string> candidates);

}  // namespace pipedream
