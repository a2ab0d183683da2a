// "Did you mean …?" for misspelt keys, names and units.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pipedream {

// Returns the candidate that takes the fewest edits (insert, delete or replace a character) to
// become `word`, the first one if several do. A candidate that begins with `word`, if `word` has at
// least 3 characters, counts as equal to it. Upper and lower case are the same, as are '-' and '_'.
// Returns an empty string if `word` has more than 64 characters, or if the edits exceed half the
// length of `word` without its leading dashes.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);

// Returns " (did you mean 'x'?)" with the nearest() candidate, or " (known: a, b, c)" with all
// candidates if nearest() finds none.
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string> candidates);

}  // namespace pipedream
