#include "cost/variant.h"

namespace pipedream::cost {

const std::vector<std::string>& variant_names() {
  static const std::vector<std::string> names{"default", "paper", "published"};
  return names;
}

}  // namespace pipedream::cost
