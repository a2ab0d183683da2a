// A timeline as columns of numbers in text, which a page reads many times faster than JSON objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "timeline/timeline.h"

namespace pipedream::page {

// Returns the numbers as text: base64 of the differences between neighbours, each as bytes of seven
// bits, the lowest first, with the sign in the lowest bit. web/base.js reads it (numbersOf).
// Requires differences below 2^52.
[[nodiscard]] std::string column(const std::vector<std::int64_t>& numbers);

[[nodiscard]] std::string base64(std::string_view bytes);

// Returns the ops of a timeline that occupy a worker's compute lane, by worker and in the order of
// their starts. A member of the object is a column: worker, kind (web/timeline.js has their names),
// stage, minibatch (of an update, the last), microbatch, weights (of an update, the version that it
// makes; −1 if none), and in nanoseconds start, length, transfer and wait (timeline::Event).
[[nodiscard]] nlohmann::ordered_json timeline_columns(const timeline::Timeline& timeline,
                                                      const std::string& name);

// Returns the memory that each worker held over time, where the timeline knows it: for each such
// worker {"worker", "time", "bytes"}. The last two are columns; time is in nanoseconds.
[[nodiscard]] nlohmann::ordered_json memory_columns(const timeline::Timeline& timeline);

}  // namespace pipedream::page
