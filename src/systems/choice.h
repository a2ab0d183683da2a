// `auto`: every system plans, and one of them is chosen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "systems/planning.h"

namespace pipedream::systems {

// The name that lets plan_with choose.
inline constexpr const char* kAutomatic = "auto";

// Systems within this factor of the fastest are taken to be as fast: profiles are no more exact.
inline constexpr double kAsFast = 1.01;

struct Candidate {
  const System* system;
  Result result;
};

struct Choice {
  std::vector<Candidate> candidates;  // in the order of all_systems()
  // Index into `candidates` of the fastest that fits and that `wishes.prefer` allows. Of those that
  // are as fast (kAsFast), the one with the lowest System::preference. Nothing if no plan fits.
  std::optional<std::size_t> best;
};

// The index of the candidate that `auto` takes under that preference; Choice::best says which one
// that is.
[[nodiscard]] std::optional<std::size_t> chosen(const std::vector<Candidate>& candidates,
                                                Prefer prefer);

// Every system plans, except those that cannot have the form wished for (`straight`, `stages`,
// `split`). Other wishes that mean nothing to a system are left out for it.
[[nodiscard]] Choice plan_for_all(const Model& model, const cluster::Cluster& cluster,
                                  const Wishes& wishes);

// Wishes that `auto` leaves out for that system: `microbatches` for pipedream, which cuts nothing.
// A wish that the system meets without knowing it is not among them: a system that never recomputes
// meets `no_recompute`.
[[nodiscard]] std::vector<Option> passed_over(const System& system, const Wishes& wishes);

// What of the wishes the plan does not do, a line each: options that mean nothing to the system
// that `auto` has chosen, and a `depth` that the plan cannot reach.
[[nodiscard]] std::vector<std::string> unmet_wishes(const Wishes& wishes, const Planned& planned);

struct Decision {
  Planned planned;
  std::optional<Choice> choice;  // all candidates, if the system was `auto`
};

// The plan of the system of that name, or the choice of `auto`. Throws BadUsage for a name or wish
// that makes no sense, and CannotMeet, with all reasons, where there is no plan.
[[nodiscard]] Decision plan_with(const std::string& system, const Model& model,
                                 const cluster::Cluster& cluster, const Wishes& wishes);

// Throws CannotMeet with the reason of every candidate that has no plan. Candidates have a `system`
// and a `result`.
[[noreturn]] void throw_no_plan(const std::string& reasons);
template <class Candidates>
[[noreturn]] void refuse_all(const Candidates& candidates) {
  std::string reasons;
  for (const auto& candidate : candidates)
    if (const auto* refusal = std::get_if<plan::Refusal>(&candidate.result))
      reasons += "\n  " + candidate.system->name + ": " + refusal->why;
  throw_no_plan(reasons);
}

}  // namespace pipedream::systems
