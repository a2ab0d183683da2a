#include "systems/systems.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/nearest.h"
#include "plan/dapple.h"
#include "plan/data_parallel.h"
#include "plan/general.h"
#include "plan/hierarchical.h"
#include "plan/interleaved.h"
#include "plan/relaxation.h"
#include "plan/two_buffered.h"
#include "systems/simulation.h"

namespace pipedream::systems {

using cost::Rule;
using plan::Outcome;
using plan::Predictor;
using plan::Recompute;

const std::vector<System>& all_systems() {
  static const std::vector<System> systems{
      {"pipedream",
       "1F1B without flush, weight stashing, replicated stages",
       Rule::kPipedream,
       6,
       true,
       {"--straight", "--depth", "--hierarchical"}},
      {"dapple",
       "1F1B inside each minibatch, flush, replicas share microbatches",
       Rule::kDapple,
       1,
       true,
       {"--microbatches", "--no-recompute", "--depth"}},
      {"torchgpipe",
       "GPipe on one machine, balanced stages",
       Rule::kGpipe,
       3,
       true,
       {"--microbatches", "--no-recompute", "--stages", "--balance"}},
      {"gpipe",
       "all forwards, all backwards, flush; the user's split or balanced stages",
       Rule::kGpipe,
       2,
       true,
       {"--microbatches", "--no-recompute", "--stages", "--balance", "--split"}},
      {"2bw",
       "1F1B over microbatches, two weight versions, equal pipelines side by side",
       Rule::kTwoBuffered,
       5,
       true,
       {"--microbatches", "--no-recompute", "--depth"}},
      {"dp-bsp",
       "every worker holds every layer; gradients averaged for every update",
       Rule::kDataParallel,
       0,
       true,
       {}},
      {"mp",
       "balanced stages on all workers, one minibatch at a time",
       Rule::kModelParallel,
       4,
       true,
       {"--stages", "--balance", "--split"}},
      {"interleaved",
       "several stages per worker, 1F1B inside each minibatch, flush",
       Rule::kInterleaved,
       7,
       false,  // its prediction is an estimate
       {"--microbatches", "--no-recompute"}},
      {"dp-asp",
       "every worker holds every layer; gradients and weights through servers, nobody waits",
       Rule::kAsynchronous,
       8,
       false,  // how stale its weights get depends on timing
       {}},
  };
  return systems;
}

const System& find_system(std::string_view name) {
  if (name == "auto")
    throw BadUsage("'auto' chooses a system where a plan is made; here one must be named");
  std::vector<std::string> names{"auto"};
  for (const System& system : all_systems()) {
    if (system.name == name) return system;
    names.push_back(system.name);
  }
  throw BadUsage("there is no system '" + std::string(name) + "'" +
                 suggestion(std::string(name), names));
}

bool knows(const System& system, const std::string& flag) {
  return std::find(system.options.begin(), system.options.end(), flag) != system.options.end();
}

namespace {

// The flags that mean something to some systems only: whether a wish gives one, and how to take it
// back.
struct Flag {
  const char* name;
  bool (*is_given)(const Wishes&);
  void (*take_back)(Wishes&);
  bool met_unknown = false;  // those that do not know it do what it says, where they have a plan
};

const std::vector<Flag>& all_flags() {
  static const std::vector<Flag> flags{
      {"--straight", [](const Wishes& w) { return w.straight; },
       [](Wishes& w) { w.straight = false; }, true},
      {"--hierarchical", [](const Wishes& w) { return w.hierarchical; },
       [](Wishes& w) { w.hierarchical = false; }},
      {"--no-recompute", [](const Wishes& w) { return !w.recompute; },
       [](Wishes& w) { w.recompute = true; }, true},
      {"--split", [](const Wishes& w) { return !w.split.empty(); },
       [](Wishes& w) { w.split.clear(); }},
      {"--stages", [](const Wishes& w) { return w.stages.has_value(); },
       [](Wishes& w) { w.stages.reset(); }},
      {"--microbatches", [](const Wishes& w) { return w.microbatches.has_value(); },
       [](Wishes& w) { w.microbatches.reset(); }},
      {"--depth", [](const Wishes& w) { return w.depth != plan::Depth::kBest; },
       [](Wishes& w) { w.depth = plan::Depth::kBest; }},
      {"--balance", [](const Wishes& w) { return w.balance != plan::Balance::kTime; },
       [](Wishes& w) { w.balance = plan::Balance::kTime; }},
  };
  return flags;
}

void refuse_meaningless(const System& system, const Wishes& wishes) {
  if (!wishes.split.empty() && wishes.stages)
    throw BadUsage("--split says how many stages there are: leave out --stages");
  for (const Flag& flag : all_flags()) {
    if (!flag.is_given(wishes) || knows(system, flag.name)) continue;
    std::string others;
    for (const System& other : all_systems())
      if (knows(other, flag.name)) others += (others.empty() ? "" : ", ") + other.name;
    throw BadUsage(std::string(flag.name) + " means nothing to " + system.name + "; it is for " +
                   others);
  }
}

Wishes only_known(const System& system, Wishes wishes) {
  for (const Flag& flag : all_flags())
    if (!knows(system, flag.name)) flag.take_back(wishes);
  return wishes;
}

// A wish about the form of the plan that the system cannot have; `auto` passes it over then.
std::optional<std::string> unmet_wish(const System& system, const Wishes& wishes) {
  const bool never_replicates = system.rule == Rule::kGpipe ||
                                system.rule == Rule::kModelParallel ||
                                system.rule == Rule::kInterleaved;
  if (wishes.straight && !knows(system, "--straight") && !never_replicates)
    return "--straight: its plans have replicas";
  if (wishes.stages && !knows(system, "--stages")) return "--stages means nothing to it";
  if (!wishes.split.empty() && !knows(system, "--split")) return "--split means nothing to it";
  return std::nullopt;
}

Recompute recompute_of(Rule rule, bool allowed) {
  if (!allowed) return Recompute::kNever;
  switch (rule) {
    case Rule::kGpipe:
      return Recompute::kAlways;
    case Rule::kDapple:
    case Rule::kTwoBuffered:
    case Rule::kInterleaved:
      return Recompute::kWhereNeeded;
    default:
      return Recompute::kNever;
  }
}

plan::Conditions conditions_of(Rule rule, const Wishes& wishes) {
  return {
      .rule = rule,
      .memory = wishes.memory,
      .optimiser_copies = wishes.optimiser_copies,
      .exchange = rule == Rule::kAsynchronous ? cost::Exchange::kParameterServer : wishes.exchange,
      .recompute = recompute_of(rule, wishes.recompute),
      .microbatches = wishes.microbatches,
      .depth = wishes.depth,
      .most_depth = wishes.most_depth};
}

Outcome plan_blocks(const System& system, const Predictor& predictor, const Wishes& wishes) {
  if (!wishes.split.empty()) return plan::plan_split(predictor, wishes.split);
  const int workers = predictor.network().workers();
  int most = workers;
  if (system.name == "torchgpipe" && predictor.network().levels() > 1)
    most = predictor.network().inside(1);  // it knows one machine only
  if (wishes.stages) {
    const int layers = static_cast<int>(predictor.cuts().unit_count());
    if (*wishes.stages > std::min(most, layers))
      return plan::Refusal{"--stages " + std::to_string(*wishes.stages) + ": at most " +
                               std::to_string(std::min(most, layers)) + " are possible here (" +
                               std::to_string(layers) + " layers, " + std::to_string(most) +
                               " workers" + (most < workers ? " of one machine)" : ")"),
                           {}};
    return plan::plan_balanced(predictor, wishes.balance, {*wishes.stages, *wishes.stages});
  }
  const bool all = system.rule == Rule::kModelParallel;  // more stages are never faster there
  return plan::plan_balanced(predictor, wishes.balance, {all ? most : 2, most});
}

Outcome plan_like_pipedream(const Predictor& predictor, const Wishes& wishes) {
  if (wishes.depth == plan::Depth::kUpTo)
    return plan::Refusal{"--depth N is for our planner: PipeDream's has its own rule (noam)", {}};
  Outcome outcome = plan::plan_hierarchical(
      predictor, {.variant = wishes.variant,
                  .straight = wishes.straight,
                  // The published optimiser uses every machine unless told otherwise.
                  .fewer_workers = wishes.variant != cost::Variant::kPublished});
  auto* answer = std::get_if<plan::Answer>(&outcome);
  if (answer != nullptr && wishes.variant == cost::Variant::kDefault) {
    // Our own model knows more than the recurrence, and says what the plan is worth.
    answer->objective = answer->prediction.per_minibatch;
    answer->bound =
        std::min(answer->objective, Seconds(plan::Relaxation(predictor, wishes.straight).bound()));
  }
  return outcome;
}

Outcome plan_pipedream(const Predictor& predictor, const Wishes& wishes) {
  if (wishes.variant != cost::Variant::kDefault || wishes.hierarchical)
    return plan_like_pipedream(predictor, wishes);
  return plan::plan_general(predictor, {.straight = wishes.straight});
}

// The latency formula is off by a few percent: of its best few plans, which hardly differ by it,
// the one that is fastest in simulation. The prediction stays the formula's.
constexpr std::int64_t kMostToSimulate =
    2'000;  // workers × items of one update: a few milliseconds each

Outcome fastest_simulated(plan::DappleAnswers answers, const System& system,
                          const Predictor& predictor, const Wishes& wishes) {
  SimulationWishes simulation;
  simulation.conditions.exchange = wishes.exchange;
  simulation.conditions.loading = false;  // as in the prediction
  const profile::Profile& profile = predictor.cuts().profile();
  double fastest = 0;
  for (plan::Answer& answer : answers.few) {
    if (predictor.cluster().workers() * std::int64_t{answer.prediction.microbatches} >
        kMostToSimulate)
      break;
    const plan::Plan plan =
        plan::to_plan(predictor.cuts(), answer.layout, answer.prediction, system.name);
    const double speed =
        simulate_plan(plan, profile, predictor.cluster(), simulation).minibatches_per_second;
    if (speed <= fastest) continue;
    fastest = speed;
    answers.best = std::move(answer);
  }
  return std::move(answers.best);
}

// Those that look for partitions themselves, and those that take the layers as they come.
const plan::Cuts& cuts_for(const System& system, const Model& model) {
  const bool searches = system.rule == Rule::kPipedream || system.rule == Rule::kDapple;
  return searches ? model.cuts : model.in_order;
}

Outcome outcome_of(const System& system, const plan::Cuts& cuts, const cluster::Cluster& cluster,
                   const Wishes& wishes) {
  const plan::Conditions conditions = conditions_of(system.rule, wishes);
  const Predictor predictor(cuts, cluster, conditions);
  switch (system.rule) {
    case Rule::kPipedream:
      return plan_pipedream(predictor, wishes);
    case Rule::kDapple:
      return fastest_simulated(plan::plan_dapple_few(predictor), system, predictor, wishes);
    case Rule::kGpipe:
    case Rule::kModelParallel:
      return plan_blocks(system, predictor, wishes);
    case Rule::kTwoBuffered:
      return plan::plan_two_buffered(cuts, cluster, conditions);
    case Rule::kInterleaved:
      return plan::plan_interleaved(cuts, cluster, conditions);
    case Rule::kDataParallel:
    case Rule::kAsynchronous:
      break;
  }
  Outcome outcome = plan::plan_data_parallel(predictor);
  auto* answer = std::get_if<plan::Answer>(&outcome);
  if (answer != nullptr && wishes.variant != cost::Variant::kDefault)
    answer->objective = plan::data_parallel_time(predictor, wishes.variant);
  return outcome;
}

std::optional<Seconds> data_parallel(const Model& model, const cluster::Cluster& cluster,
                                     const Wishes& wishes) {
  const System& system = find_system("dp-bsp");
  const Outcome outcome = outcome_of(system, model.in_order, cluster, only_known(system, wishes));
  const auto* answer = std::get_if<plan::Answer>(&outcome);
  return answer == nullptr ? std::nullopt : std::optional(answer->objective);
}

Result as_result(const System& system, const Model& model, const plan::Cuts& cuts,
                 const Wishes& wishes, Outcome outcome) {
  if (auto* refusal = std::get_if<plan::Refusal>(&outcome)) return std::move(*refusal);
  auto& answer = std::get<plan::Answer>(outcome);
  plan::Plan plan = plan::to_plan(cuts, answer.layout, answer.prediction, system.name);
  const bool every_cut = &cuts == &model.in_order || cuts.complete();
  return Planned{system.name, std::move(plan), std::move(answer), wishes.variant, every_cut, {}};
}

// plan_for without what is said about data parallelism.
Result plan_alone(const System& system, const Model& model, const cluster::Cluster& cluster,
                  const Wishes& wishes) {
  refuse_meaningless(system, wishes);
  if (model.cuts.compute(0, model.cuts.last()) <= 0)
    return plan::Refusal{"no layer of the profile takes any time: there is nothing to plan", {}};
  if (wishes.microbatches && *wishes.microbatches > model.profile.batch.value_or(INT32_MAX))
    return plan::Refusal{"--microbatches " + std::to_string(*wishes.microbatches) +
                             ": a minibatch has only " + std::to_string(*model.profile.batch) +
                             " samples",
                         {}};
  const bool has_recurrence = system.rule == Rule::kPipedream || system.rule == Rule::kDataParallel;
  if (wishes.variant != cost::Variant::kDefault && !has_recurrence)
    return plan::Refusal{
        "the cost models 'paper' and 'published' describe PipeDream's planner and data "
        "parallelism only",
        {}};
  const plan::Cuts& cuts = cuts_for(system, model);
  Outcome outcome = outcome_of(system, cuts, cluster, wishes);
  const auto* refusal = std::get_if<plan::Refusal>(&outcome);
  if (refusal == nullptr || !refusal->nearest || !cuts.merged())
    return as_result(system, model, cuts, wishes, std::move(outcome));
  // What free layers keep may just fit elsewhere.
  const plan::Cuts single = plan::Cuts::of_single_layers(model.profile);
  outcome = outcome_of(system, single, cluster, wishes);
  return as_result(system, model, single, wishes, std::move(outcome));
}

}  // namespace

Result plan_for(const System& system, const Model& model, const cluster::Cluster& cluster,
                const Wishes& wishes) {
  Result result = plan_alone(system, model, cluster, wishes);
  if (auto* planned = std::get_if<Planned>(&result))
    planned->data_parallel = data_parallel(model, cluster, wishes);
  return result;
}

std::vector<std::string> passed_over(const System& system, const Wishes& wishes) {
  std::vector<std::string> names;
  for (const Flag& flag : all_flags())
    if (flag.is_given(wishes) && !flag.met_unknown && !knows(system, flag.name))
      names.emplace_back(flag.name);
  return names;
}

Choice plan_for_all(const Model& model, const cluster::Cluster& cluster, const Wishes& wishes) {
  Choice choice;
  double fastest = std::numeric_limits<double>::infinity();
  for (const System& system : all_systems()) {
    const auto unmet = unmet_wish(system, wishes);
    choice.candidates.push_back(
        {&system, unmet ? Result(plan::Refusal{*unmet, {}})
                        : plan_alone(system, model, cluster, only_known(system, wishes))});
    const auto* planned = std::get_if<Planned>(&choice.candidates.back().result);
    if (planned != nullptr && system.automatic)
      fastest = std::min(fastest, planned->time().count());
  }
  if (fastest == std::numeric_limits<double>::infinity()) return choice;  // nobody has a plan
  const std::optional<Seconds> compared = data_parallel(model, cluster, wishes);
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    Candidate& candidate = choice.candidates[i];
    auto* planned = std::get_if<Planned>(&candidate.result);
    if (planned == nullptr) continue;
    planned->data_parallel = compared;
    if (!candidate.system->automatic || planned->time().count() > fastest * kAsFast) continue;
    if (!choice.best ||
        candidate.system->preference < choice.candidates[*choice.best].system->preference)
      choice.best = i;
  }
  return choice;
}

}  // namespace pipedream::systems
