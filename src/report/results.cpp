#include "report/results.h"

#include <nlohmann/json.hpp>

namespace pipedream::report {

using nlohmann::ordered_json;

ordered_json result_head(const std::string& format, const std::string& model,
                         std::optional<std::int64_t> batch) {
  constexpr int kVersion = 1;
  return {{"format", format},
          {"version", kVersion},
          {"model", model},
          {"batch", batch ? ordered_json(*batch) : ordered_json()}};
}

std::string staleness_text(int updates) { return updates == 0 ? "none" : std::to_string(updates); }

}  // namespace pipedream::report
