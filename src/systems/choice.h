// `auto`: plans for every system and chooses one of the plans
// (docs/planner.md#which-system-auto-takes).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "systems/planning.h"
#include "systems/ranking.h"

namespace pipedream::systems {

// The name with which plan_with() chooses the system.
inline constexpr const char* kAutomatic = "auto";

// A system with its plan, or with the reason why it has none.
struct Candidate {
  const System* system;
  Result result;
};

struct Choice {
  std::vector<Candidate> candidates;  // in the order of all_systems()
  // Index into `candidates` of the fastest plan that `wishes.prefer` allows. Simulated times are
  // compared if all plans that `auto` may take have one, otherwise predicted times. Of equally fast
  // plans (kAsFast), it is the one with the lowest System::preference. nullopt if no plan fits.
  std::optional<std::size_t> best;
};

// Returns the index of the candidate that `auto` takes under `prefer`, by the rule of Choice::best.
[[nodiscard]] std::optional<std::size_t> chosen(const std::vector<Candidate>& candidates,
                                                Prefer prefer);

// Plans for every system. A system that cannot meet a wish about the form of the plan (`straight`,
// `stages`, `split`), or that does not know the cost model, gets a refusal. All other options that
// a system does not know are ignored for that system (passed_over).
[[nodiscard]] Choice plan_for_all(const Model& model, const cluster::Cluster& cluster,
                                  const Wishes& wishes);

// Returns the options in `wishes` that `auto` ignores for `system`, because the system does not
// know them: `microbatches` for pipedream, which does not cut minibatches. Leaves out options that
// the system meets anyway: a system that never recomputes meets `no_recompute`.
[[nodiscard]] std::vector<Option> passed_over(const System& system, const Wishes& wishes);

// Returns one line for each wish that the plan does not meet: for options that mean nothing to the
// system that `auto` has chosen, and for a `depth` that the plan cannot reach.
[[nodiscard]] std::vector<std::string> unmet_wishes(const Wishes& wishes, const Planned& planned);

struct Decision {
  Planned planned;
  std::optional<Choice> choice;  // all candidates, if the system was `auto`
};

// Returns the plan of the system named `system`, or the choice of `auto`. Throws BadUsage for an
// unknown name or a wish that makes no sense, BadValue as plan_for() does, and CannotMeet with all
// reasons if there is no plan.
[[nodiscard]] Decision plan_with(const std::string& system, const Model& model,
                                 const cluster::Cluster& cluster, const Wishes& wishes);

// Throws CannotMeet with `reasons`, the text that refuse_all() builds.
[[noreturn]] void throw_no_plan(const std::string& reasons);
// Throws CannotMeet with the reason of every candidate that has no plan. The candidates have the
// members `system` and `result`, like Candidate.
template <class Candidates>
[[noreturn]] void refuse_all(const Candidates& candidates) {
  std::string reasons;
  for (const auto& candidate : candidates)
    if (const auto* refusal = std::get_if<plan::Refusal>(&candidate.result))
      reasons += "\n  " + candidate.system->name + ": " + refusal->why;
  throw_no_plan(reasons);
}

}  // namespace pipedream::systems
