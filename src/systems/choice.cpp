#include "systems/choice.h"

#include <algorithm>
#include <limits>

#include "core/error.h"

namespace pipedream::systems {
namespace {

// Returns whether the plan of a system meets the option even if the system does not know it. A
// system that cannot meet `straight` has no plan (unmet_wish).
bool is_met_unknown(Option option) {
  return option == Option::kStraight || option == Option::kNoRecompute;
}

// Returns why the system cannot meet a wish about the form of the plan; nullopt if it meets all.
std::optional<std::string> unmet_wish(const System& system, const Wishes& wishes) {
  const bool never_replicates = system.traits.replicas == cost::Replicas::kNone;
  for (const Option option : given_options(wishes)) {
    if (knows(system, option)) continue;
    if (option == Option::kStraight && !never_replicates)
      return quoted(option) + ": its plans have replicas";
    if (option == Option::kAccumulate) return quoted(option) + ": each minibatch is an update";
    if (option == Option::kStages || option == Option::kSplit)
      return quoted(option) + " means nothing to it";
  }
  return std::nullopt;
}

// Returns the plan of a candidate; nullptr if it has none or if `auto` never takes its system.
const Planned* plan_of(const Candidate& candidate) {
  return candidate.system->preference ? std::get_if<Planned>(&candidate.result) : nullptr;
}

// Compares the candidates that `auto` may take: by their simulated times if all have one, otherwise
// by their predicted times. Keeps a reference to `candidates`.
class Comparison {
 public:
  explicit Comparison(const std::vector<Candidate>& candidates) : candidates_(candidates) {
    for (const Candidate& candidate : candidates)
      if (const Planned* planned = plan_of(candidate))
        simulated_ = simulated_ && planned->times.simulated.has_value();
  }

  // Requires a candidate that `auto` may take.
  [[nodiscard]] Seconds time(std::size_t candidate) const {
    const Times& times = plan_of(candidates_[candidate])->times;
    return simulated_ ? *times.simulated : times.predicted;
  }

  // Returns the index of the fastest candidate whose system `admit` accepts. Of equally fast ones
  // (kAsFast), it is the one with the lowest System::preference.
  template <class Admit>
  [[nodiscard]] std::optional<std::size_t> fastest(Admit admit) const {
    std::vector<std::size_t> admitted;
    Seconds shortest(std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (plan_of(candidates_[i]) == nullptr || !admit(*candidates_[i].system)) continue;
      admitted.push_back(i);
      shortest = std::min(shortest, time(i));
    }
    std::optional<std::size_t> best;
    for (const std::size_t i : admitted)
      if (time(i) <= shortest * kAsFast &&
          (!best || candidates_[i].system->preference < candidates_[*best].system->preference))
        best = i;
    return best;
  }

 private:
  const std::vector<Candidate>& candidates_;
  bool simulated_ = true;
};

}  // namespace

std::optional<std::size_t> chosen(const std::vector<Candidate>& candidates, Prefer prefer) {
  const Comparison compared(candidates);
  if (prefer == Prefer::kSpeed) return compared.fastest([](const System&) { return true; });
  const auto exact =
      compared.fastest([](const System& system) { return !system.traits.is_stale(); });
  if (prefer == Prefer::kExact) return exact;
  const auto stale =
      compared.fastest([](const System& system) { return system.traits.is_stale(); });
  if (!exact || !stale) return exact ? exact : stale;
  const bool worth = compared.time(*stale) * kWorthStaleness <= compared.time(*exact);
  return worth ? stale : exact;
}

std::vector<Option> passed_over(const System& system, const Wishes& wishes) {
  std::vector<Option> options;
  for (const Option option : given_options(wishes))
    if (!is_met_unknown(option) && !knows(system, option)) options.push_back(option);
  return options;
}

std::vector<std::string> unmet_wishes(const Wishes& wishes, const Planned& planned) {
  const System& system = find_system(planned.system);
  std::vector<std::string> lines;
  for (const Option option : passed_over(system, wishes))
    lines.push_back(quoted(option) + " means nothing to " + system.name +
                    ", the choice of `system` auto; it is for " + who_knows(option));
  const int depth = planned.plan.stages.front().depth;
  if (wishes.depth == cost::Depth::kUpTo && knows(system, Option::kDepth) &&
      depth < wishes.most_depth)
    lines.push_back(quoted(Option::kDepth) + " " + std::to_string(wishes.most_depth) + ": " +
                    planned.system + " " + plan::config_text(planned.plan) + " has " +
                    std::to_string(depth) +
                    " in flight; its stages, microbatches and memory allow no more");
  return lines;
}

Choice plan_for_all(const Model& model, const cluster::Cluster& cluster, const Wishes& wishes) {
  Choice choice;
  for (const System& system : all_systems()) {
    const auto unmet = unmet_wish(system, wishes);
    choice.candidates.push_back(
        {&system, unmet ? Result(plan::Refusal{*unmet, {}})
                        : plan_alone(system, model, cluster, only_known(system, wishes))});
  }
  choice.best = chosen(choice.candidates, wishes.prefer);
  if (!choice.best) return choice;
  const std::optional<Times> compared = data_parallel_times(model, cluster, wishes);
  for (Candidate& candidate : choice.candidates)
    if (auto* planned = std::get_if<Planned>(&candidate.result)) planned->data_parallel = compared;
  return choice;
}

Decision plan_with(const std::string& system, const Model& model, const cluster::Cluster& cluster,
                   const Wishes& wishes) {
  if (system == kAutomatic) {
    Choice choice = plan_for_all(model, cluster, wishes);
    if (!choice.best) refuse_all(choice.candidates);
    Planned best = std::get<Planned>(choice.candidates[*choice.best].result);
    return {std::move(best), std::move(choice)};
  }
  const System& found = find_system(system);
  Result result = plan_for(found, model, cluster, wishes);
  if (auto* planned = std::get_if<Planned>(&result)) return {std::move(*planned), {}};
  throw CannotMeet("`system` " + found.name + ": " + std::get<plan::Refusal>(result).why);
}

void throw_no_plan(const std::string& reasons) {
  throw CannotMeet("no system has a plan for this:" + reasons);
}

}  // namespace pipedream::systems
