#include "systems/systems.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream::systems {
namespace {

// A chain of equal layers; bytes and milliseconds.
struct Chain {
  int layers = 4;
  std::int64_t weights = 10;
  std::int64_t out = 1;
  std::int64_t stash = 0;
};

profile::Profile profile_of(const Chain& chain) {
  graph::Builder builder;
  profile::Profile profile;
  profile.model = "chain";
  profile.batch = 64;
  builder.add_input("data", {{"out", {}, Bytes{0}}});
  profile.costs.emplace_back();
  for (int i = 0; i < chain.layers; ++i) {
    builder.add_layer("layer" + std::to_string(i), "", {{"out", {}, Bytes{chain.out}}});
    builder.add_edge(LayerId{i}, 0, LayerId{i + 1});
    profile::LayerCost cost;
    cost.forward = std::chrono::milliseconds(1);
    cost.backward = std::chrono::milliseconds(2);
    cost.weights = Bytes{chain.weights};
    cost.stash = Bytes{chain.stash};
    profile.costs.push_back(cost);
  }
  profile.graph = std::move(builder).build();
  return profile;
}

constexpr Bytes kPlenty{1 << 30};
constexpr double kFast = 1e12;  // bytes per second: nobody waits for such links

cluster::Cluster flat(int workers, double bandwidth = kFast) {
  return {"flat",
          {{.name = "server", .count = workers, .bandwidth = {bandwidth}}},
          std::vector<cluster::Device>(static_cast<std::size_t>(workers), {kPlenty, 1})};
}

cluster::Cluster two_servers_of_two() {
  return {"servers",
          {{.name = "server", .count = 2, .bandwidth = {kFast}},
           {.name = "network", .count = 2, .bandwidth = {kFast}, .shared = true}},
          std::vector<cluster::Device>(4, {kPlenty, 1})};
}

Result plan_with(const std::string& system, const Chain& chain, const cluster::Cluster& cluster,
                 const Wishes& wishes = {}) {
  const profile::Profile profile = profile_of(chain);
  const Model model(profile);
  return plan_for(find_system(system), model, cluster, wishes);
}

// What `plan_with` must give where a plan is expected.
Planned plan_of(const std::string& system, const Chain& chain, const cluster::Cluster& cluster,
                const Wishes& wishes = {}) {
  Result result = plan_with(system, chain, cluster, wishes);
  if (auto* refusal = std::get_if<plan::Refusal>(&result))
    throw std::runtime_error(system + " refused: " + refusal->why);
  return std::get<Planned>(std::move(result));
}

// Why there is no plan.
std::string reason(const std::string& system, const Chain& chain, const cluster::Cluster& cluster,
                   const Wishes& wishes) {
  Result result = plan_with(system, chain, cluster, wishes);
  const auto* refusal = std::get_if<plan::Refusal>(&result);
  return refusal == nullptr ? "there is a plan" : refusal->why;
}

Choice choose(const Chain& chain, const cluster::Cluster& cluster, const Wishes& wishes = {}) {
  const profile::Profile profile = profile_of(chain);
  const Model model(profile);
  return plan_for_all(model, cluster, wishes);
}

std::string chosen(const Choice& choice) {
  return choice.best ? choice.candidates[*choice.best].system->name : "none";
}

// nullopt where it has no plan.
std::optional<double> time_of(const Choice& choice, const std::string& system) {
  for (const Candidate& candidate : choice.candidates)
    if (const auto* planned = std::get_if<Planned>(&candidate.result);
        planned != nullptr && planned->system == system)
      return planned->time().count();
  return std::nullopt;
}

TEST(Systems, AreThoseOfTheCommandLine) {
  std::vector<std::string> names;
  for (const System& system : all_systems()) names.push_back(system.name);
  EXPECT_EQ(names, (std::vector<std::string>{"pipedream", "dapple", "torchgpipe", "gpipe", "2bw",
                                             "dp-bsp", "mp", "interleaved", "dp-asp"}));
}

TEST(Systems, NoTwoArePreferredAlike) {
  std::vector<int> preferences;
  for (const System& system : all_systems()) preferences.push_back(system.preference);
  std::sort(preferences.begin(), preferences.end());
  EXPECT_EQ(std::adjacent_find(preferences.begin(), preferences.end()), preferences.end());
}

TEST(Systems, SynchronousOnesArePreferredToStaleWeights) {
  for (const char* synchronous : {"dp-bsp", "dapple", "gpipe", "torchgpipe", "mp"})
    for (const char* stale : {"2bw", "pipedream", "dp-asp"})
      EXPECT_LT(find_system(synchronous).preference, find_system(stale).preference)
          << synchronous << " and " << stale;
}

TEST(Systems, AreFoundByName) {
  for (const System& system : all_systems()) EXPECT_EQ(&find_system(system.name), &system);
}

TEST(Systems, AMisspeltNameGetsASuggestion) {
  EXPECT_EQ(test::message_of<BadUsage>([] { (void)find_system("gpip"); }),
            "there is no system 'gpip' (did you mean 'gpipe'?)");
  EXPECT_EQ(test::message_of<BadUsage>([] { (void)find_system("aut"); }),
            "there is no system 'aut' (did you mean 'auto'?)");
  EXPECT_EQ(test::message_of<BadUsage>([] { (void)find_system("megatron"); }),
            "there is no system 'megatron' (known: auto, pipedream, dapple, torchgpipe, gpipe, "
            "2bw, dp-bsp, mp, interleaved, dp-asp)");
}

struct Flag {
  std::string name;
  Wishes wishes;
  std::vector<std::string> for_systems;
};

std::vector<Flag> all_flags() {
  return {{"--straight", {.straight = true}, {"pipedream"}},
          {"--hierarchical", {.hierarchical = true}, {"pipedream"}},
          {"--no-recompute",
           {.recompute = false},
           {"dapple", "torchgpipe", "gpipe", "2bw", "interleaved"}},
          {"--split", {.split = {2}}, {"gpipe", "mp"}},
          {"--stages", {.stages = 2}, {"torchgpipe", "gpipe", "mp"}},
          {"--microbatches",
           {.microbatches = 4},
           {"dapple", "torchgpipe", "gpipe", "2bw", "interleaved"}},
          {"--depth", {.depth = plan::Depth::kNoam}, {"pipedream", "dapple", "2bw"}},
          {"--balance", {.balance = plan::Balance::kSize}, {"torchgpipe", "gpipe", "mp"}}};
}

TEST(Flags, ThatMeanSomethingToASystemAreTaken) {
  for (const Flag& flag : all_flags())
    for (const std::string& system : flag.for_systems)
      EXPECT_NO_THROW((void)plan_of(system, {}, flat(4), flag.wishes)) << system << flag.name;
}

TEST(Flags, ThatMeanNothingToASystemAreRefusedWithThoseTheyAreFor) {
  for (const Flag& flag : all_flags()) {
    std::string others;
    for (const std::string& system : flag.for_systems)
      others += (others.empty() ? "" : ", ") + system;
    for (const System& system : all_systems()) {
      const auto& known = flag.for_systems;
      if (std::find(known.begin(), known.end(), system.name) != known.end()) continue;
      EXPECT_EQ(test::message_of<BadUsage>(
                    [&] { (void)plan_with(system.name, {}, flat(4), flag.wishes); }),
                flag.name + " means nothing to " + system.name + "; it is for " + others);
    }
  }
}

TEST(Flags, ThatMeanNothingToOneOfManyAreLeftOutForIt) {
  for (const Flag& flag : all_flags()) {
    const Choice choice = choose({}, flat(4), flag.wishes);
    EXPECT_EQ(choice.candidates.size(), all_systems().size());
    EXPECT_TRUE(choice.best.has_value()) << flag.name;
  }
}

// What a system does anyway is not passed over: pipedream and mp recompute nothing, mp replicates
// nothing.
TEST(Flags, ThatAutoPassesOverAreNamed) {
  Wishes wishes;
  wishes.microbatches = 4;
  wishes.recompute = false;
  wishes.straight = true;
  wishes.depth = plan::Depth::kNoam;
  using Names = std::vector<std::string>;
  EXPECT_EQ(passed_over(find_system("pipedream"), wishes), Names{"--microbatches"});
  EXPECT_EQ(passed_over(find_system("mp"), wishes), (Names{"--microbatches", "--depth"}));
  EXPECT_EQ(passed_over(find_system("dapple"), wishes), Names{});
}

TEST(Flags, StraightMeansNoReplicas) {
  EXPECT_EQ(plan::config_text(plan_of("pipedream", {.layers = 2}, flat(4)).plan), "4");
  EXPECT_EQ(
      plan::config_text(plan_of("pipedream", {.layers = 2}, flat(4), {.straight = true}).plan),
      "1-1");
}

TEST(Flags, StagesAndSplitSayWhereToCut) {
  const plan::Plan stages = plan_of("gpipe", {.layers = 6}, flat(4), {.stages = 3}).plan;
  ASSERT_EQ(stages.stages.size(), 3u);
  for (const plan::Stage& stage : stages.stages) EXPECT_EQ(stage.layers.size(), 2u);
  const plan::Plan split = plan_of("mp", {.layers = 6}, flat(4), {.split = {1, 5}}).plan;
  ASSERT_EQ(split.stages.size(), 3u);
  EXPECT_EQ(split.stages[0].layers.size(), 1u);
  EXPECT_EQ(split.stages[1].layers.size(), 4u);
  EXPECT_EQ(split.stages[2].layers.size(), 1u);
}

TEST(Flags, ASplitThatCannotBeIsABadValue) {
  for (const std::vector<int>& split : {std::vector{0}, {6}, {3, 3}, {4, 2}, {1, 2, 3, 4}, {-1}})
    EXPECT_NE(test::message_of<BadValue>([&] {
                (void)plan_with("gpipe", {.layers = 6}, flat(4), {.split = split});
              }).find("--split: wanted"),
              std::string::npos);
}

TEST(Flags, MicrobatchesAndDepthReachThePlan) {
  EXPECT_EQ(plan_of("gpipe", {}, flat(4), {.microbatches = 5}).plan.microbatches, 5);
  const plan::Plan deep = plan_of("pipedream", {}, flat(4),
                                  {.straight = true, .depth = plan::Depth::kUpTo, .most_depth = 7})
                              .plan;
  EXPECT_EQ(deep.stages.front().depth, 7);
}

TEST(Flags, MoreStagesThanLayersOrWorkersCannotBeMet) {
  EXPECT_EQ(reason("gpipe", {.layers = 9}, flat(4), {.stages = 5}),
            "--stages 5: at most 4 are possible here (9 layers, 4 workers)");
  EXPECT_EQ(reason("mp", {.layers = 3}, flat(4), {.stages = 4}),
            "--stages 4: at most 3 are possible here (3 layers, 4 workers)");
}

TEST(Flags, OneSystemThatCannotMeetAWishDoesNotStopTheOthers) {
  const Choice choice = choose({.layers = 8}, two_servers_of_two(), {.stages = 3});
  EXPECT_FALSE(time_of(choice, "torchgpipe").has_value());
  EXPECT_TRUE(time_of(choice, "gpipe").has_value());
}

TEST(Flags, AMinibatchIsNotCutIntoMoreMicrobatchesThanItHasSamples) {
  EXPECT_EQ(reason("gpipe", {}, flat(4), {.microbatches = 1 << 20}).substr(0, 24),
            "--microbatches 1048576: ");
}

TEST(Flags, ASplitAndANumberOfStagesAreTooMuch) {
  EXPECT_EQ(test::message_of<BadUsage>(
                [] { (void)plan_with("gpipe", {}, flat(4), {.split = {1}, .stages = 2}); }),
            "--split says how many stages there are: leave out --stages");
}

TEST(Flags, PipedreamsOwnPlannerHasItsOwnDepth) {
  EXPECT_EQ(reason("pipedream", {}, flat(4),
                   {.hierarchical = true, .depth = plan::Depth::kUpTo, .most_depth = 3}),
            "--depth N is for our planner: PipeDream's has its own rule (noam)");
}

TEST(Flags, UnderOurCostModelTheHierarchicalPlanHasOurPrediction) {
  const Planned planned = plan_of("pipedream", {}, two_servers_of_two(), {.hierarchical = true});
  EXPECT_EQ(planned.time(), planned.answer.prediction.per_minibatch);
  EXPECT_LE(*planned.answer.bound, planned.answer.objective);
}

TEST(Flags, WithoutRecomputationGpipeKeepsAllActivations) {
  const Planned with = plan_of("gpipe", {.stash = 100}, flat(4));
  const Planned without = plan_of("gpipe", {.stash = 100}, flat(4), {.recompute = false});
  EXPECT_TRUE(with.plan.stages.front().recompute);
  EXPECT_FALSE(without.plan.stages.front().recompute);
  EXPECT_LT(without.time(), with.time());
  EXPECT_GT(without.answer.prediction.stages[0].memory.total(),
            with.answer.prediction.stages[0].memory.total());
}

TEST(Torchgpipe, StaysOnOneMachine) {
  const Planned planned = plan_of("torchgpipe", {.layers = 8}, two_servers_of_two());
  EXPECT_EQ(plan::config_text(planned.plan), "1-1");
  EXPECT_EQ(plan::worker_count(planned.plan), 2);
  EXPECT_EQ(plan::config_text(plan_of("gpipe", {.layers = 8}, two_servers_of_two()).plan),
            "1-1-1-1");
  EXPECT_EQ(reason("torchgpipe", {.layers = 8}, two_servers_of_two(), {.stages = 3}),
            "--stages 3: at most 2 are possible here (8 layers, 2 workers of one machine)");
}

TEST(CostModels, OfPipedreamsPlannersRefuseOtherSystemsWithAReason) {
  for (const cost::Variant variant : {cost::Variant::kPaper, cost::Variant::kPublished})
    for (const System& system : all_systems()) {
      const Result result = plan_with(system.name, {}, flat(4), {.variant = variant});
      if (system.name == "pipedream" || system.name == "dp-bsp") {
        ASSERT_TRUE(std::holds_alternative<Planned>(result)) << system.name;
        EXPECT_EQ(std::get<Planned>(result).variant, variant);
        continue;
      }
      ASSERT_TRUE(std::holds_alternative<plan::Refusal>(result)) << system.name;
      EXPECT_EQ(std::get<plan::Refusal>(result).why,
                "the cost models 'paper' and 'published' describe PipeDream's planner and data "
                "parallelism only");
      EXPECT_FALSE(std::get<plan::Refusal>(result).nearest.has_value());
    }
}

// 40 bytes on 4 workers over 1 kB/s: 2·3·40 bytes take 240 ms, and 12 ms of compute are hidden.
TEST(CostModels, HaveTheirOwnTimeForDataParallelism) {
  const Planned paper = plan_of("dp-bsp", {}, flat(4, 1e3), {.variant = cost::Variant::kPaper});
  EXPECT_DOUBLE_EQ(paper.time().count(), 0.240 / 4);
  EXPECT_EQ(paper.data_parallel, paper.time());
  const Planned published =
      plan_of("dp-bsp", {}, flat(4, 1e3), {.variant = cost::Variant::kPublished});
  EXPECT_DOUBLE_EQ(published.time().count(), (0.012 + 4 * 3 * 0.040 / 4) / 4);
}

TEST(Auto, TakesTheFastest) {
  // Averaging 40 kB over 1 MB/s takes longer than all compute: only pipelines are fast, and only
  // those without flush keep all stages busy.
  const Choice choice = choose({.weights = 10'000, .out = 0}, flat(4, 1e6));
  for (const System& system : all_systems()) {
    const auto time = time_of(choice, system.name);
    ASSERT_TRUE(time.has_value()) << system.name;
    EXPECT_LE(*time_of(choice, chosen(choice)), *time * (1 + 1e-12)) << system.name;
  }
  EXPECT_GT(*time_of(choice, "dp-bsp"), 1.01 * *time_of(choice, "pipedream"));
  EXPECT_GT(*time_of(choice, "dapple"), 1.01 * *time_of(choice, "pipedream"));
  EXPECT_DOUBLE_EQ(*time_of(choice, "pipedream"), 0.003);
}

TEST(Auto, PrefersTwoVersionsToMoreAmongEquals) {
  const Choice choice = choose({.weights = 10'000, .out = 0}, flat(4, 1e6));
  EXPECT_DOUBLE_EQ(*time_of(choice, "2bw"), *time_of(choice, "pipedream"));
  EXPECT_EQ(chosen(choice), "2bw");
}

TEST(Auto, PrefersSynchronousTrainingAmongThoseAsFastToOneInAHundred) {
  // A step of data parallelism is 12 ms and its averaging, which fills no bucket and so begins at
  // the end: 2·(3/4)·40 bytes.
  const Choice close = choose({}, flat(4, 60 / 100e-6));
  EXPECT_DOUBLE_EQ(*time_of(close, "dp-bsp"), (12e-3 + 100e-6) / 4);
  EXPECT_DOUBLE_EQ(*time_of(close, "pipedream"), 3e-3);
  EXPECT_EQ(chosen(close), "dp-bsp");
  const Choice apart = choose({}, flat(4, 60 / 150e-6));
  EXPECT_DOUBLE_EQ(*time_of(apart, "dp-bsp"), (12e-3 + 150e-6) / 4);
  EXPECT_EQ(chosen(apart), "2bw");
}

// An estimate, and weights whose staleness depends on timing: only when asked for.
TEST(Auto, NeverTakesInterleavedOrAsynchronousTraining) {
  for (const System& system : all_systems())
    EXPECT_EQ(system.automatic, system.name != "interleaved" && system.name != "dp-asp");
  for (const double bandwidth : {1e3, 1e6, 1e12})
    for (const std::int64_t weights : {0, 10, 100'000})
      for (const int layers : {1, 4, 16}) {
        const Choice choice = choose({.layers = layers, .weights = weights}, flat(4, bandwidth));
        EXPECT_NE(chosen(choice), "interleaved");
        EXPECT_NE(chosen(choice), "dp-asp");
        EXPECT_TRUE(time_of(choice, "interleaved").has_value()) << "planned all the same";
        EXPECT_TRUE(time_of(choice, "dp-asp").has_value());
      }
}

TEST(Auto, LeavesOutWhatDoesNotFit) {
  // Data parallelism would be chosen, but 3 × 40 bytes of weights, gradients and state are too
  // many.
  EXPECT_EQ(chosen(choose({}, flat(4))), "dp-bsp");
  const Choice choice = choose({}, flat(4), {.memory = Bytes{100}});
  EXPECT_FALSE(time_of(choice, "dp-bsp").has_value());
  ASSERT_TRUE(choice.best.has_value());
  EXPECT_NE(chosen(choice), "dp-bsp");
  for (const Candidate& candidate : choice.candidates)
    if (const auto* refusal = std::get_if<plan::Refusal>(&candidate.result)) {
      EXPECT_NE(refusal->why, "");
    }
}

TEST(Auto, ChoosesNothingWhereNothingFits) {
  const Choice choice = choose({}, flat(4), {.memory = Bytes{1}});
  EXPECT_FALSE(choice.best.has_value());
  EXPECT_EQ(choice.candidates.size(), all_systems().size());
  for (const Candidate& candidate : choice.candidates) {
    const auto* refusal = std::get_if<plan::Refusal>(&candidate.result);
    ASSERT_NE(refusal, nullptr) << candidate.system->name;
    ASSERT_TRUE(refusal->nearest.has_value()) << candidate.system->name;
    EXPECT_GT(refusal->nearest->bytes, Bytes{0});
    EXPECT_NE(refusal->why.find(std::to_string(refusal->nearest->bytes.count) + " bytes"),
              std::string::npos);
  }
}

TEST(Planned, ComparesWithDataParallelismWhereThatFits) {
  const Planned planned = plan_of("pipedream", {}, flat(4));
  ASSERT_TRUE(planned.data_parallel.has_value());
  EXPECT_EQ(*planned.data_parallel, plan_of("dp-bsp", {}, flat(4)).time());
  const Planned small = plan_of("pipedream", {}, flat(4), {.memory = Bytes{100}, .straight = true});
  EXPECT_FALSE(small.data_parallel.has_value());
}

TEST(Planned, SaysWhichSystemItIsFor) {
  for (const System& system : all_systems()) {
    const Planned planned = plan_of(system.name, {}, flat(2));
    EXPECT_EQ(planned.system, system.name);
    EXPECT_EQ(planned.plan.system, system.name);
    EXPECT_TRUE(planned.every_cut);  // of a chain
  }
}

TEST(Planned, RefusesAProfileThatTakesNoTime) {
  for (const System& system : all_systems()) {
    const Result result = plan_with(system.name, {.layers = 0}, flat(2));
    ASSERT_TRUE(std::holds_alternative<plan::Refusal>(result)) << system.name;
    EXPECT_EQ(std::get<plan::Refusal>(result).why,
              "no layer of the profile takes any time: there is nothing to plan");
  }
}

TEST(Planned, OneWorkerIsEnoughForEverySystem) {
  for (const System& system : all_systems()) {
    const Planned planned = plan_of(system.name, {}, flat(1), {.recompute = true});
    EXPECT_EQ(plan::config_text(planned.plan), "1") << system.name;
    const bool recomputes = planned.plan.stages[0].recompute;
    EXPECT_DOUBLE_EQ(planned.time().count(), recomputes ? 0.016 : 0.012) << system.name;
  }
}

}  // namespace
}  // namespace pipedream::systems
