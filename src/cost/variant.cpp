#include "cost/variant.h"

#include <algorithm>

namespace pipedream::cost {

const std::vector<std::string>& variant_names() {
  static const std::vector<std::string> names{"default", "paper", "published"};
  return names;
}

std::optional<Variant> find_variant(std::string_view name) {
  const auto& names = variant_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Variant>(found - names.begin());
}

}  // namespace pipedream::cost
