#include "systems/ranking.h"

#include "core/check.h"
#include "systems/simulation.h"

namespace pipedream::systems {

plan::Answer fastest_simulated(const System& system, const plan::Predictor& predictor,
                               std::vector<plan::Answer> answers) {
  PD_CHECK(!answers.empty());
  SimulationWishes simulation;
  simulation.conditions.exchange = predictor.setting().exchange;
  simulation.conditions.loading = false;  // as in the prediction
  std::size_t best = 0;
  double fastest = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const plan::Answer& answer = answers[i];
    const plan::Plan plan =
        plan::to_plan(predictor.cuts(), answer.layout, answer.prediction, system.name);
    if (std::int64_t{plan::worker_count(plan)} * plan.microbatches > kMostToSimulate) continue;
    const double speed =
        simulate_plan(plan, predictor.cuts().profile(), predictor.cluster(), simulation)
            .minibatches_per_second;
    if (speed <= fastest) continue;
    fastest = speed;
    best = i;
  }
  return std::move(answers[best]);
}

}  // namespace pipedream::systems
