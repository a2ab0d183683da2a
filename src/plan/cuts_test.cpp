#include "plan/cuts.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "core/file.h"
#include "core/testing.h"
#include "cost/system_rules_testing.h"
#include "plan/hierarchical.h"
#include "plan/units.h"
#include "profile/graph_text.h"
#include "profile/shared_profiles_testing.h"

namespace pipedream::plan {
namespace {

// Returns a network of layers with one output each. An entry has the name of a layer and the names
// of its users: {{"a", "bc"}, {"b", "d"}, …}. Layers named in `inputs` are input layers. Layer i
// takes 4^i ns forward and 2·4^i ns backward, and has 10^i bytes of weights and 2^i bytes of
// output. So every sum tells which layers were added up.
profile::Profile network(const std::vector<std::pair<std::string, std::string>>& layers,
                         const std::string& inputs = "") {
  profile::Profile profile;
  graph::Builder builder;
  std::int64_t time = 1;
  std::int64_t weights = 1;
  std::int64_t bytes = 1;
  for (const auto& [name, users] : layers) {
    if (inputs.find(name) != std::string::npos) {
      builder.add_input(name, {{"out", {}, Bytes{bytes}}});
      profile.costs.emplace_back();
    } else {
      builder.add_layer(name, "", {{"out", {}, Bytes{bytes}}});
      profile.costs.push_back(
          {.forward = Nanos(time), .backward = Nanos(2 * time), .weights = Bytes{weights}});
    }
    time *= 4;
    weights *= 10;
    bytes *= 2;
  }
  for (const auto& [name, users] : layers)
    for (const char user : users) builder.add_edge(name, "", std::string(1, user));
  profile.graph = std::move(builder).build();
  return profile;
}

profile::Profile chain(int length) {
  profile::Profile profile;
  graph::Builder builder;
  for (int i = 0; i < length; ++i) {
    const LayerId layer =
        builder.add_layer("layer" + std::to_string(i), "", {{"out", {}, Bytes{1}}});
    if (i > 0) builder.add_edge(LayerId{i - 1}, 0, layer);
    profile.costs.push_back({.forward = Nanos(1)});
  }
  profile.graph = std::move(builder).build();
  return profile;
}

profile::Profile layers_side_by_side(int count) {
  profile::Profile profile;
  graph::Builder builder;
  for (int i = 0; i < count; ++i) builder.add_layer("layer" + std::to_string(i), "", {});
  profile.costs.resize(static_cast<std::size_t>(count));
  profile.graph = std::move(builder).build();
  return profile;
}

std::string names(const profile::Profile& profile, const std::vector<LayerId>& layers) {
  std::string text;
  for (const LayerId layer : layers) text += profile.graph.layer(layer).name;
  return text;
}

// Returns the names of the layers of every cut.
std::vector<std::string> all_cuts(const Cuts& cuts) {
  std::vector<std::string> all;
  for (std::size_t cut = 0; cut < cuts.count(); ++cut)
    all.push_back(names(cuts.profile(), cuts.layers(0, cut)));
  return all;
}

std::size_t cut_of(const Cuts& cuts, const std::string& layers) {
  const std::vector<std::string> all = all_cuts(cuts);
  const auto found = std::find(all.begin(), all.end(), layers);
  EXPECT_NE(found, all.end()) << layers;
  return static_cast<std::size_t>(found - all.begin());
}

//        ┌▶ b ─┐
//     a ─┤     ├▶ d
//        └▶ c ─┘
const profile::Profile kDiamond = network({{"a", "bc"}, {"b", "d"}, {"c", "d"}, {"d", ""}});

TEST(Cuts, OfThePictureAreSix) {
  const Cuts cuts(kDiamond);
  EXPECT_EQ(all_cuts(cuts), (std::vector<std::string>{"", "a", "ab", "ac", "abc", "abcd"}));
  EXPECT_EQ(cuts.count(), 6U);
  EXPECT_EQ(cuts.last(), 5U);
  EXPECT_EQ(cuts.unit_count(), 4U);
  EXPECT_TRUE(cuts.complete());
  EXPECT_FALSE(cuts.in_line());
}

TEST(Cuts, OfThePicturePrecedeEachOtherButForTheTwoInTheMiddle) {
  const Cuts cuts(kDiamond);
  for (std::size_t a = 0; a < 6; ++a)
    for (std::size_t b = 0; b < 6; ++b)
      EXPECT_EQ(cuts.precedes(a, b), a < b && !(a == 2 && b == 3)) << a << ' ' << b;
}

TEST(Cuts, InDeclaredOrderAreThePrefixesOfTheDeclaredOrder) {
  const Cuts cuts = Cuts::in_declared_order(kDiamond);
  EXPECT_EQ(all_cuts(cuts), (std::vector<std::string>{"", "a", "ab", "abc", "abcd"}));
  EXPECT_TRUE(cuts.in_line());
  EXPECT_FALSE(cuts.complete()) << "{a, c} is a down-set as well";
}

TEST(Cuts, InDeclaredOrderAreCompleteWhereThereIsNoOtherOrder) {
  const profile::Profile profile = network({{"x", "a"}, {"a", "b"}, {"b", ""}}, "x");
  const Cuts cuts = Cuts::in_declared_order(profile);
  EXPECT_EQ(all_cuts(cuts), (std::vector<std::string>{"", "a", "ab"}));
  EXPECT_TRUE(cuts.complete());
}

// Layer b takes no time, receives 4 bytes and sends 1 byte. So it joins a, except in
// Cuts::in_declared_order.
TEST(Cuts, KeepAFreeLayerWithItsNeighbour) {
  profile::Profile profile = network({{"b", "d"}, {"c", "d"}, {"a", "b"}, {"d", ""}});
  profile.costs[0] = {};
  const Cuts cuts(profile);
  EXPECT_EQ(all_cuts(cuts), (std::vector<std::string>{"", "c", "ab", "cab", "cabd"}));
  EXPECT_EQ(cuts.unit_count(), 3U);
  EXPECT_TRUE(cuts.complete());
  EXPECT_EQ(cuts.crossing(2), 1) << "b's value, and not a's";
  EXPECT_EQ(cuts.size(1, 3), (cost::StageSize{Bytes{100}, Bytes{4 + 1}, Bytes{0}, Bytes{4 + 1}}));
  EXPECT_EQ(all_cuts(Cuts::in_declared_order(profile)),
            (std::vector<std::string>{"", "c", "ca", "cab", "cabd"}));
}

TEST(Cuts, OfAChainAreOneMoreThanItsLayers) {
  for (int length = 0; length <= 20; ++length) {
    const profile::Profile profile = chain(length);
    const Cuts cuts(profile, 3);  // a chain has only one order, however few cuts are allowed
    EXPECT_EQ(cuts.count(), static_cast<std::size_t>(length) + 1);
    EXPECT_TRUE(cuts.complete());
    EXPECT_TRUE(cuts.in_line());
    for (std::size_t a = 0; a < cuts.count(); ++a) {
      EXPECT_EQ(cuts.layers(0, a).size(), a);
      for (std::size_t b = 0; b < cuts.count(); ++b) EXPECT_EQ(cuts.precedes(a, b), a < b);
    }
  }
}

// With a value that skips a layer, there is still only one order.
TEST(Cuts, OfAChainWithASkipAreThoseOfTheChain) {
  const profile::Profile profile = network({{"a", "bc"}, {"b", "c"}, {"c", ""}});
  EXPECT_EQ(all_cuts(Cuts(profile)), (std::vector<std::string>{"", "a", "ab", "abc"}));
}

TEST(Cuts, LeaveInputLayersOut) {
  const profile::Profile profile = network({{"x", "ac"}, {"a", "bc"}, {"b", ""}, {"c", ""}}, "x");
  const Cuts cuts(profile);
  EXPECT_EQ(all_cuts(cuts), (std::vector<std::string>{"", "a", "ab", "ac", "abc"}));
  EXPECT_EQ(cuts.unit_count(), 3U);
  EXPECT_EQ(cuts.crossing(1), 2) << "a's value, and not that of the input";
  EXPECT_EQ(cuts.size(1, 3).received, Bytes{2}) << "c reads the data set itself";
  EXPECT_EQ(cuts.size(0, 1).received, Bytes{0});
  EXPECT_EQ(cuts.size(0, 1).working, Bytes{2}) << "data has no gradient";
  EXPECT_EQ(cuts.size(1, 3).working, Bytes{2 + 8});
}

TEST(Cuts, SumTheLayersBetweenThem) {
  const Cuts cuts(kDiamond);
  const std::size_t a = cut_of(cuts, "a");
  const std::size_t ac = cut_of(cuts, "ac");
  EXPECT_EQ(cuts.forward(a, cuts.last()), (4 + 16 + 64) / 1e9);
  EXPECT_EQ(cuts.backward(a, cuts.last()), 2 * (4 + 16 + 64) / 1e9);
  EXPECT_EQ(cuts.compute(a, ac), 3 * 16 / 1e9);
  EXPECT_EQ(cuts.compute(0, cuts.last()), 3 * (1 + 4 + 16 + 64) / 1e9);
  EXPECT_EQ(cuts.weights(a, cuts.last()), 1110);
  EXPECT_EQ(cuts.weights(a, ac), 100);
  EXPECT_EQ(names(kDiamond, cuts.layers(ac, cuts.last())), "bd");
}

// The outputs of a, b and c have 1, 2 and 4 bytes. Nobody uses the 8 bytes of d.
TEST(Cuts, SumTheValuesThatCrossThemEachOnce) {
  const Cuts cuts(kDiamond);
  EXPECT_EQ(cuts.crossing(cut_of(cuts, "")), 0);
  EXPECT_EQ(cuts.crossing(cut_of(cuts, "a")), 1) << "though both b and c need it";
  EXPECT_EQ(cuts.crossing(cut_of(cuts, "ab")), 1 + 2);
  EXPECT_EQ(cuts.crossing(cut_of(cuts, "ac")), 1 + 4);
  EXPECT_EQ(cuts.crossing(cut_of(cuts, "abc")), 2 + 4);
  EXPECT_EQ(cuts.crossing(cut_of(cuts, "abcd")), 0);
}

TEST(Cuts, KnowTheSizeOfAStage) {
  const Cuts cuts(kDiamond);
  const std::size_t ab = cut_of(cuts, "ab");
  // The stage of c and d holds their outputs and receives the values of a and b. Layer d works on 2
  // + 4 + 8 bytes.
  EXPECT_EQ(cuts.size(ab, cuts.last()),
            (cost::StageSize{Bytes{1100}, Bytes{4 + 8}, Bytes{1 + 2}, Bytes{14}}));
  // The stage of c alone does not receive b's value.
  EXPECT_EQ(cuts.size(ab, cut_of(cuts, "abc")),
            (cost::StageSize{Bytes{100}, Bytes{4}, Bytes{1}, Bytes{5}}));
}

TEST(Cuts, HoldTheStashAndWhatLayersKeep) {
  profile::Profile profile = network({{"a", "b"}, {"b", "c"}, {"c", ""}});
  profile.costs[0].stash = Bytes{100};
  profile.costs[0].keeps_output = {false};  // and b does not say that it keeps a's value
  profile.costs[1].keeps_output = {false};
  profile.costs[2].keeps_input = {true};
  profile.costs[2].keeps_output = {false};
  const Cuts cuts(profile);
  EXPECT_EQ(cuts.size(0, 1).held, Bytes{100});
  EXPECT_EQ(cuts.size(1, 2).held, Bytes{2}) << "c keeps it, b made it";
  EXPECT_EQ(cuts.size(0, 3).held, Bytes{102});
}

std::vector<std::string> flows_of(const Cuts& cuts, const std::vector<std::string>& stages) {
  std::vector<std::size_t> ends{0};
  for (const std::string& layers : stages) ends.push_back(cut_of(cuts, layers));
  std::vector<std::string> text;
  for (const Cuts::Flow& flow : cuts.flows(ends))
    text.push_back(std::to_string(flow.from) + "→" + std::to_string(flow.to) + ": " +
                   std::to_string(static_cast<int>(flow.bytes)));
  std::sort(text.begin(), text.end());
  return text;
}

TEST(Cuts, SayWhatStagesSendEachOther) {
  const Cuts cuts(kDiamond);
  EXPECT_EQ(flows_of(cuts, {"abcd"}), (std::vector<std::string>{}));
  EXPECT_EQ(flows_of(cuts, {"a", "abcd"}), (std::vector<std::string>{"0→1: 1"}));
  EXPECT_EQ(flows_of(cuts, {"ab", "abcd"}), (std::vector<std::string>{"0→1: 3"}));
  EXPECT_EQ(flows_of(cuts, {"a", "ac", "abc", "abcd"}),
            (std::vector<std::string>{"0→1: 1", "0→2: 1", "1→3: 4", "2→3: 2"}));
}

// The value of a goes to each of the two later stages once.
TEST(Cuts, SayThatAValueGoesDirectlyToEachStageThatUsesIt) {
  const profile::Profile profile = network({{"a", "bcd"}, {"b", "c"}, {"c", "d"}, {"d", ""}});
  const Cuts cuts(profile);
  EXPECT_EQ(flows_of(cuts, {"a", "abc", "abcd"}),
            (std::vector<std::string>{"0→1: 1", "0→2: 1", "1→2: 4"}));
}

TEST(Cuts, AreAllDownSetsUpToTheMostThatAreAllowed) {
  const profile::Profile nine = layers_side_by_side(9);
  EXPECT_EQ(Cuts(nine).count(), 512U);
  EXPECT_TRUE(Cuts(nine).complete());
  EXPECT_EQ(Cuts(nine, 511).count(), 10U);
  EXPECT_FALSE(Cuts(nine, 511).complete());
  EXPECT_EQ(Cuts(kDiamond, 6).count(), 6U);
  EXPECT_TRUE(Cuts(kDiamond, 6).complete());
}

TEST(Cuts, OfAWideNetworkAreThePrefixesOfOneOrder) {
  const Cuts cuts(kDiamond, 5);
  EXPECT_FALSE(cuts.complete());
  EXPECT_TRUE(cuts.in_line());
  EXPECT_EQ(all_cuts(cuts), (std::vector<std::string>{"", "a", "ab", "abc", "abcd"}));
  EXPECT_TRUE(cuts.precedes(2, 3));
  EXPECT_EQ(flows_of(cuts, {"ab", "abc", "abcd"}),
            (std::vector<std::string>{"0→1: 1", "0→2: 2", "1→2: 4"}));
  const profile::Profile wide = layers_side_by_side(10);
  EXPECT_EQ(Cuts(wide).count(), 11U);
  EXPECT_FALSE(Cuts(wide).complete());
}

profile::Profile with_bytes(const std::vector<std::pair<std::string, std::string>>& layers,
                            const std::map<std::string, int>& bytes) {
  profile::Profile profile;
  graph::Builder builder;
  for (const auto& [name, users] : layers)
    builder.add_layer(name, "", {{"out", {}, Bytes{bytes.at(name)}}});
  for (const auto& [name, users] : layers)
    for (const char user : users) builder.add_edge(name, "", std::string(1, user));
  profile.costs.assign(layers.size(), {.forward = Nanos(1)});
  profile.graph = std::move(builder).build();
  return profile;
}

std::string narrow_order_text(const profile::Profile& profile) {
  std::string text;
  for (const auto& unit : narrow_order(profile.graph, single_layers(profile)))
    text += names(profile, unit);
  return text;
}

// Two branches are declared side by side. Few bytes cross only if one branch follows the other.
TEST(NarrowOrder, FinishesABranchBeforeTheNext) {
  const profile::Profile profile =
      with_bytes({{"a", "c"}, {"b", "d"}, {"c", "e"}, {"d", "e"}, {"e", ""}},
                 {{"a", 100}, {"b", 100}, {"c", 1}, {"d", 1}, {"e", 1}});
  EXPECT_EQ(names(profile, profile.graph.order()), "abcde");
  EXPECT_EQ(narrow_order_text(profile), "acbde");
  const Cuts cuts(profile, 5);
  EXPECT_EQ(all_cuts(cuts), (std::vector<std::string>{"", "a", "ac", "acb", "acbd", "acbde"}));
  EXPECT_EQ(cuts.crossing(3), 101);
}

// The greedy order takes c first, whose value then crosses while a and b run: 5, 15, 5, 0 bytes
// cross instead of 10, 0, 5, 0.
TEST(NarrowOrder, KeepsTheDeclaredOrderWhereGreedDoesWorse) {
  const profile::Profile profile = with_bytes({{"a", "b"}, {"b", "d"}, {"c", "d"}, {"d", ""}},
                                              {{"a", 10}, {"b", 0}, {"c", 5}, {"d", 0}});
  EXPECT_EQ(narrow_order_text(profile), "abcd");
}

// As a layer of its own, a is taken before b, which is larger. In one unit with c, it is taken
// after b.
TEST(NarrowOrder, KeepsUnitsTogether) {
  const profile::Profile profile =
      with_bytes({{"a", "c"}, {"b", "d"}, {"c", "e"}, {"d", "e"}, {"e", ""}},
                 {{"a", 30}, {"b", 40}, {"c", 50}, {"d", 10}, {"e", 1}});
  EXPECT_EQ(narrow_order_text(profile), "acbde");
  const std::vector<std::vector<LayerId>> units{
      {LayerId{0}, LayerId{2}}, {LayerId{1}}, {LayerId{3}}, {LayerId{4}}};
  std::string text;
  for (const auto& unit : narrow_order(profile.graph, units)) text += names(profile, unit) + " ";
  EXPECT_EQ(text, "b d ac e ");
}

// Behind a and {c, d}, 20 bytes cross; behind a and f, 17 bytes. If a's 5 bytes were subtracted
// twice, for c and for d, {c, d} would seem better than f.
TEST(NarrowOrder, TakesAValueOffOnceThatTwoLayersOfAUnitUse) {
  const profile::Profile profile =
      with_bytes({{"a", "cd"}, {"c", "e"}, {"d", "e"}, {"f", "e"}, {"e", ""}},
                 {{"a", 5}, {"c", 10}, {"d", 10}, {"f", 12}, {"e", 0}});
  const std::vector<std::vector<LayerId>> units{
      {LayerId{0}}, {LayerId{1}, LayerId{2}}, {LayerId{3}}, {LayerId{4}}};
  std::string text;
  for (const auto& unit : narrow_order(profile.graph, units)) text += names(profile, unit) + " ";
  EXPECT_EQ(text, "a f cd e ");
}

// The profiles that PipeDream's authors measured. They are not part of this project.
class CutsOfSharedProfiles : public test::WithSharedProfiles {};

// Gives free layers a time, so that every layer is a unit of its own.
void let_free_layers_take_a_nanosecond(profile::Profile& profile) {
  for (std::size_t i = 0; i < profile.costs.size(); ++i) {
    profile::LayerCost& cost = profile.costs[i];
    if (!profile.graph.layers()[i].is_input && cost.forward + cost.backward == Nanos(0))
      cost.forward = Nanos(1);
  }
}

// The published numbers of states of PipeDream's dynamic programme count every down-set but the
// empty one.
TEST_F(CutsOfSharedProfiles, AreThePublishedStatesAndNothingWhereEachLayerStandsAlone) {
  const std::map<std::string, std::size_t> states{
      {"alexnet", 22}, {"vgg16", 40}, {"squeezenet1_0", 99}, {"resnet50", 240}};
  for (const auto& [model, count] : states) {
    profile::Profile profile = profile::read_shared_profile(model);
    let_free_layers_take_a_nanosecond(profile);
    const Cuts cuts(profile);
    EXPECT_EQ(cuts.count(), count + 1) << model;
    EXPECT_TRUE(cuts.complete()) << model;
  }
}

TEST_F(CutsOfSharedProfiles, AreFewerWhereFreeLayersGoWithTheirNeighbours) {
  const std::map<std::string, std::size_t> counts{
      {"alexnet", 21}, {"vgg16", 39}, {"squeezenet1_0", 91}, {"resnet50", 241}, {"gnmt", 42}};
  for (const auto& [model, count] : counts) {
    const profile::Profile profile = profile::read_shared_profile(model);
    const Cuts cuts(profile);
    EXPECT_EQ(cuts.count(), count) << model;
    EXPECT_TRUE(cuts.complete()) << model;
  }
}

// Returns gnmt without the layers that nobody uses (__getitem__), as PipeDream plans it.
profile::Profile gnmt_as_published(const std::filesystem::path& file) {
  const std::set<std::string> unused{"node9",  "node13", "node18", "node25",
                                     "node27", "node33", "node39", "node46"};
  std::istringstream lines(read_file(file));
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (std::none_of(unused.begin(), unused.end(), [&](const std::string& name) {
          return line.starts_with(name + " -- ") || line.ends_with(" -- " + name);
        }))
      text += line + "\n";
  return profile::parse_graph_text(text, "gnmt.graph.txt");
}

// PipeDream starts from the first source, node4. It counts the decoder's other sources, node20 to
// node22, as taken exactly when the decoder (node23) is taken.
TEST_F(CutsOfSharedProfiles, OfGnmtHoldThePublishedStatesBesidesOthers) {
  profile::Profile gnmt = gnmt_as_published(test::shared_profiles() / "gnmt.graph.txt");
  EXPECT_EQ(gnmt.graph.layers().size(), 40U);
  let_free_layers_take_a_nanosecond(gnmt);
  const Cuts cuts(gnmt, 1000);
  EXPECT_TRUE(cuts.complete());
  EXPECT_EQ(cuts.count(), 562U);
  std::size_t states = 0;
  for (std::size_t cut = 1; cut < cuts.count(); ++cut) {
    const std::vector<LayerId> layers = cuts.layers(0, cut);
    const auto has = [&](const char* name) {
      return std::find(layers.begin(), layers.end(), *gnmt.graph.find(name)) != layers.end();
    };
    if (has("node20") == has("node23") && has("node21") == has("node23") &&
        has("node22") == has("node23"))
      ++states;
  }
  EXPECT_EQ(states, 99U);
}

Seconds best_time_on_four(const profile::Profile& profile, std::size_t most) {
  const cluster::Cluster cluster{
      "four", {{"server", 4, Bandwidth{1e10}}}, std::vector<cluster::Device>(4, {Bytes{1}})};
  const Cuts cuts(profile, most);
  EXPECT_TRUE(cuts.complete());
  const Predictor predictor(cuts, cluster, {.rules = cost::kPipedream});
  return std::get<Answer>(plan_hierarchical(predictor, {.limit_memory = false})).objective;
}

TEST_F(CutsOfSharedProfiles, OfGnmtLoseNoPlanByBeingFew) {
  profile::Profile single = gnmt_as_published(test::shared_profiles() / "gnmt.graph.txt");
  let_free_layers_take_a_nanosecond(single);
  const Seconds all = best_time_on_four(single, 1000);
  const Seconds few = best_time_on_four(profile::read_shared_profile("gnmt"), kMostDownSets);
  EXPECT_GT(all, Seconds(0));
  EXPECT_NEAR(few / all, 1, 1e-4);
}

TEST_F(CutsOfSharedProfiles, OfAWideOneAreThePrefixesOfAnOrder) {
  const profile::Profile profile = profile::read_shared_profile("inception_v3");
  const Cuts cuts(profile);
  EXPECT_FALSE(cuts.complete());
  EXPECT_TRUE(cuts.in_line());
  EXPECT_EQ(cuts.count(), cuts.unit_count() + 1);
  EXPECT_EQ(cuts.layers(0, cuts.last()).size(), 325U);
}

TEST_F(CutsOfSharedProfiles, SumTheWholeModelFromTheFirstToTheLast) {
  for (const char* model :
       {"alexnet", "vgg16", "gnmt", "squeezenet1_0", "resnet50", "inception_v3"}) {
    const profile::Profile profile = profile::read_shared_profile(model);
    const Cuts cuts(profile);
    EXPECT_EQ(cuts.weights(0, cuts.last()), static_cast<double>(total_weights(profile).count))
        << model;
    EXPECT_DOUBLE_EQ(cuts.compute(0, cuts.last()),
                     to_seconds(total_forward(profile) + total_backward(profile)))
        << model;
  }
}

}  // namespace
}  // namespace pipedream::plan
