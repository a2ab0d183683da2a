// Texts and JSON that several tables of results share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace pipedream::report {

// The last line of tables that mark the choice of `auto`.
inline constexpr const char* kChoiceLegend = "▶ the choice of `system` auto\n";

// The members that every JSON of results begins with: `format`, its version, the model and the
// samples of a minibatch, which may not be known.
[[nodiscard]] nlohmann::ordered_json result_head(const std::string& format,
                                                 const std::string& model,
                                                 std::optional<std::int64_t> batch);

// Returns a staleness of `updates` updates as tables show it: "none" for 0, else the number.
[[nodiscard]] std::string staleness_text(int updates);

}  // namespace pipedream::report
