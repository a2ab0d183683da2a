#include "systems/own_schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "schedule/lower.h"
#include "schedule/schedule_text.h"
#include "schedule/validate.h"

namespace pipedream::systems {
namespace {

constexpr std::size_t kMostShown = 20;

// Returns the numbers of minibatches and microbatches in the schedule. Throws BadFile unless all
// minibatches have the same microbatches, numbered from 0; the last minibatch may have fewer.
schedule::Extent extent_in(const std::string& file, const schedule::Schedule& schedule) {
  std::map<std::int64_t, std::set<std::int32_t>> microbatches;
  schedule::Extent extent{0, 1, 1};
  for (const schedule::Program& program : schedule::programs_of(schedule))
    for (const schedule::Op& op : program.ops) {
      const auto* forward = std::get_if<schedule::Forward>(&op);
      if (forward == nullptr) continue;
      const schedule::Item& item = forward->item;
      microbatches[item.minibatch].insert(item.microbatch);
      extent.microbatches = std::max(extent.microbatches, item.microbatch + 1);
      if (item.minibatch >= extent.minibatches) {
        extent.minibatches = item.minibatch + 1;
        extent.last = 1;
      }
      if (item.minibatch + 1 == extent.minibatches)
        extent.last = std::max(extent.last, item.microbatch + 1);
    }
  for (const auto& [minibatch, found] : microbatches)
    if (static_cast<int>(found.size()) != extent.microbatches_of(minibatch))
      throw BadFile(file + ": minibatch " + std::to_string(minibatch) + " has " +
                    std::to_string(found.size()) + " microbatches, wanted 0 to " +
                    std::to_string(extent.microbatches_of(minibatch) - 1) +
                    ": all minibatches but the last are cut alike");
  return extent;
}

std::string text_of(const std::vector<schedule::Violation>& violations) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostShown, violations.size()); ++i)
    text += "\n  worker " + std::to_string(violations[i].worker.value) + ", op " +
            std::to_string(violations[i].op_index) +
            " of its complete program: " + violations[i].what;
  if (violations.size() > kMostShown)
    text += "\n  and " + std::to_string(violations.size() - kMostShown) + " more";
  return text;
}

}  // namespace

OwnSchedule read_own_schedule(const std::string& file, const plan::Plan& plan,
                              const graph::Graph& graph) {
  OwnSchedule own{schedule::read_schedule_file(file, plan), {}};
  own.extent = extent_in(file, own.schedule);
  if (own.extent.minibatches == 0) throw BadFile(file + ": there is no forward in it");
  const schedule::Routes routes(plan, graph, own.schedule.rules.traits.replicas);
  try {
    schedule::Lowering lowering(own.schedule, routes);
    const auto violations = schedule::validate(lowering, own.schedule.rules, routes);
    if (!violations.empty())
      throw BadFile(file + ": this schedule cannot run:" + text_of(violations));
  } catch (const BadValue& bad) {
    throw BadFile(file + ": this schedule cannot run: " + bad.what());
  }
  return own;
}

void take_over(const OwnSchedule& own, plan::Plan& plan, SimulationWishes& simulation) {
  plan.microbatches = own.extent.microbatches;
  simulation.schedule = &own.schedule;
  simulation.schedule_options.minibatches = own.extent.minibatches;
  simulation.schedule_options.last_microbatches = own.extent.last;
}

}  // namespace pipedream::systems
