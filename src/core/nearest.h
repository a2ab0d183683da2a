// "Did you mean …?" for misspelt keys, names and units.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pipedream {

// The candidate with the fewest edits (insert, delete, replace) from `word`, or that begins with
// it; empty when even that takes more edits than half the word's letters, of which the dashes
// before a flag are none. Case does not count, nor whether words are joined by '-' or '_'.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);

// " (did you mean 'x'?)", or " (known: a, b, c)" when nothing is near.
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string> candidates);

}  // namespace pipedream
