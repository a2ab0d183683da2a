#include "runtime/gradient_order.h"

#include <algorithm>

namespace pipedream::runtime {

GradientOrder::GradientOrder(const graph::Graph& graph, const std::vector<StageId>& stage_of)
    : terms_(graph.values().size()), mixed_(graph.values().size()) {
  const std::vector<std::size_t> places = places_in_order(graph);
  for (std::size_t v = 0; v < graph.values().size(); ++v) {
    const graph::Value& value = graph.values()[v];
    if (graph.layer(value.producer).is_input) continue;  // data from the data set gets no gradient
    std::vector<LayerId> users = value.consumers;
    std::sort(users.begin(), users.end(),
              [&](LayerId a, LayerId b) { return places[a.index()] > places[b.index()]; });
    std::vector<Term>& terms = terms_[v];
    for (const LayerId user : users) {
      const StageId stage = stage_of[user.index()];
      if (terms.size() == 1 && terms[0].stage == stage)
        terms[0].layers.push_back(user);
      else
        terms.push_back({stage, {user}});
    }
    const StageId maker = stage_of[value.producer.index()];
    bool own = false;
    for (const Term& term : terms) {
      mixed_[v] = mixed_[v] || (own && term.stage != maker);
      own = own || term.stage == maker;
    }
  }
}

std::size_t GradientOrder::terms_from(ValueId value, StageId stage) const {
  const std::vector<Term>& terms = terms_[value.index()];
  return static_cast<std::size_t>(std::count_if(
      terms.begin(), terms.end(), [&](const Term& term) { return term.stage == stage; }));
}

}  // namespace pipedream::runtime
