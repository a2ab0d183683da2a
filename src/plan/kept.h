// The plans that a search keeps, so that they can be ranked by simulation (systems/ranking.h): the
// best of all and the best of each form. Plans of different forms have different errors in their
// predicted times.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "plan/planner.h"

namespace pipedream::plan {

class Kept {
 public:
  static constexpr std::size_t kOfAll = 8;
  static constexpr std::size_t kOfForm = 6;

  // Keeps a copy of the plan if it fits the memory and is one of the best kOfAll plans, or one of
  // the best kOfForm plans of its form.
  void offer(const Layout& layout, const Prediction& prediction);
  // Returns the plans, the best first, each with the bound `bound`. No two of them are the same.
  [[nodiscard]] std::vector<Answer> answers(std::optional<Seconds> bound) const;

 private:
  // The number of stages, and whether a stage has replicas.
  using Form = std::pair<std::size_t, bool>;
  std::vector<Answer> of_all_;  // the best first, as the lists in of_form_
  std::map<Form, std::vector<Answer>> of_form_;
};

}  // namespace pipedream::plan
