#include "cost/cost_model.h"

namespace pipedream::cost {

const std::vector<std::string>& cost_model_names() {
  static const std::vector<std::string> names{"default", "paper", "published"};
  return names;
}

}  // namespace pipedream::cost
