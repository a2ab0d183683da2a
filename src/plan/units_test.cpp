#include "plan/units.h"

#include <gtest/gtest.h>

namespace pipedream::plan {
namespace {

// A layer with one output.
struct Made {
  std::string name;   // one letter
  std::string users;  // the layers that use its output, one letter each
  int bytes;          // of its output
  int time = 0;       // 0: the layer is free
};
constexpr int kTime = 5;

profile::Profile profile_of(const std::vector<Made>& layers, const std::string& inputs = "") {
  profile::Profile profile;
  graph::Builder builder;
  for (const Made& layer : layers) {
    const bool is_input = inputs.find(layer.name) != std::string::npos;
    if (is_input)
      builder.add_input(layer.name, {{"out", {}, Bytes{layer.bytes}}});
    else
      builder.add_layer(layer.name, "", {{"out", {}, Bytes{layer.bytes}}});
    profile.costs.push_back({.forward = Nanos(layer.time)});
  }
  for (const Made& layer : layers)
    for (const char user : layer.users) builder.add_edge(layer.name, "", std::string(1, user));
  profile.graph = std::move(builder).build();
  return profile;
}

std::string text_of(const profile::Profile& profile,
                    const std::vector<std::vector<LayerId>>& units) {
  std::string text;
  for (const auto& unit : units) {
    text += text.empty() ? "" : " ";
    for (const LayerId layer : unit) text += profile.graph.layer(layer).name;
  }
  return text;
}

// Returns the units as text: in "ab c", a and b are one unit and c is another.
std::string units_of(const profile::Profile& profile) {
  return text_of(profile, layer_units(profile));
}
std::string units_of(const std::vector<Made>& layers, const std::string& inputs = "") {
  return units_of(profile_of(layers, inputs));
}

TEST(LayerUnits, AreSingleLayersWhereEachTakesTime) {
  EXPECT_EQ(units_of({{"a", "bc", 1, kTime}, {"b", "d", 1, 1}, {"c", "d", 1, 1}, {"d", "", 1, 1}}),
            "a b c d");
  EXPECT_EQ(units_of(std::vector<Made>{}), "");
}

//        ┌▶ i ─▶ x     t is a tuple with the items i and j; nobody uses j
//     t ─┤
//        └▶ j
TEST(LayerUnits, ATuplesItemsJoinItWhereOneAloneIsUsed) {
  EXPECT_EQ(units_of({{"t", "ij", 100, kTime}, {"i", "x", 90}, {"j", "", 10}, {"x", "", 1, kTime}}),
            "tij x");
}

TEST(LayerUnits, ALayerThatNobodyUsesJoinsItsProducer) {
  EXPECT_EQ(units_of({{"t", "jx", 1, kTime}, {"j", "", 1000}, {"x", "", 1, kTime}}), "tj x");
}

TEST(LayerUnits, AnItemOfTheSameSizeJoinsItsTuple) {
  EXPECT_EQ(units_of({{"t", "i", 90, kTime}, {"i", "x", 90}, {"x", "", 1, 1}}), "ti x");
}

// In t's stage, i would make that stage send twice, to x and to y. In x's stage, i makes no stage
// send twice.
TEST(LayerUnits, AnItemThatTwoLayersUseJoinsItsTupleOnlyIfItIsHalfAsLarge) {
  EXPECT_EQ(units_of({{"t", "i", 90, kTime}, {"i", "xy", 90}, {"x", "", 1, 1}, {"y", "", 1, 1}}),
            "t i x y");
  EXPECT_EQ(units_of({{"t", "i", 90, kTime}, {"i", "xy", 45}, {"x", "", 1, 1}, {"y", "", 1, 1}}),
            "ti x y");
}

// The 100 bytes of t cross the cut behind t whether or not i joins t, since y needs them too.
TEST(LayerUnits, AnItemStaysBehindAValueThatOthersUse) {
  EXPECT_EQ(units_of({{"t", "iy", 100, kTime},
                      {"i", "xz", 90},
                      {"x", "", 1, kTime},
                      {"y", "", 1, kTime},
                      {"z", "", 1, kTime}}),
            "t i x y z");
}

TEST(LayerUnits, ARowOfFreeLayersJoinsWhatItFollows) {
  EXPECT_EQ(
      units_of(
          {{"a", "b", 9, kTime}, {"b", "c", 9}, {"c", "d", 8}, {"d", "e", 7}, {"e", "", 1, kTime}}),
      "abcd e");
}

TEST(LayerUnits, ASourceThatOneLayerUsesJoinsIt) {
  EXPECT_EQ(units_of({{"s", "b", 50}, {"a", "b", 1, kTime}, {"b", "", 1, kTime}}), "a sb");
}

// Layer s only uses data, which every stage reads itself. So it joins its user, and its value is
// never sent.
TEST(LayerUnits, ALayerThatNeedsOnlyDataIsASource) {
  EXPECT_EQ(
      units_of({{"x", "sa", 1000}, {"s", "b", 50}, {"a", "b", 1, kTime}, {"b", "", 1, kTime}}, "x"),
      "a sb");
}

//     h ─┬──────┬──────┐
//     a ─┴▶ b ──┴▶ c ──┴▶ d      h is the first hidden state, which all cells of a decoder use
TEST(LayerUnits, ASourceThatLayersInLineUseJoinsTheFirstOfThem) {
  EXPECT_EQ(units_of({{"h", "dcb", 0},
                      {"a", "b", 1, kTime},
                      {"b", "c", 1, kTime},
                      {"c", "d", 1, kTime},
                      {"d", "", 1, kTime}}),
            "a hb c d");
}

TEST(LayerUnits, ASourceThatLayersSideBySideUseStaysAlone) {
  EXPECT_EQ(
      units_of({{"h", "bc", 50}, {"a", "bc", 1, kTime}, {"b", "", 1, kTime}, {"c", "", 1, kTime}}),
      "h a b c");
}

// Layer u sends more bytes than it receives, so a cut before it is better than one behind it.
TEST(LayerUnits, ALayerThatMakesMoreOfWhatItTakesJoinsItsOnlyUser) {
  EXPECT_EQ(units_of({{"a", "u", 10, kTime}, {"u", "b", 11}, {"b", "", 1, kTime}}), "a ub");
  EXPECT_EQ(units_of({{"a", "u", 10, kTime}, {"u", "b", 10}, {"b", "", 1, kTime}}), "au b");
}

TEST(LayerUnits, ALayerThatMakesMoreOfWhatItTakesStaysAloneBetweenTwoUsers) {
  EXPECT_EQ(
      units_of({{"a", "u", 10, kTime}, {"u", "bc", 11}, {"b", "", 1, kTime}, {"c", "", 1, kTime}}),
      "a u b c");
}

//        ┌──────┐
//     a ─┴▶ b ─▶+▶ c      20 bytes cross before the addition and 10 behind it; b may be slow
TEST(LayerUnits, AnAdditionOfTwoProducersStaysAlone) {
  EXPECT_EQ(
      units_of(
          {{"a", "b+", 10, kTime}, {"b", "+", 10, kTime}, {"+", "c", 10}, {"c", "", 1, kTime}}),
      "a b + c");
}

// A concatenation sends all bytes that it receives, so there is no reason to cut behind it.
TEST(LayerUnits, AConcatenationJoinsItsOnlyUser) {
  EXPECT_EQ(
      units_of(
          {{"a", "b+", 10, kTime}, {"b", "+", 10, kTime}, {"+", "c", 20}, {"c", "", 1, kTime}}),
      "a b +c");
}

TEST(LayerUnits, OneNanosecondOrOneByteOfWeightsKeepsALayerApart) {
  profile::Profile profile = profile_of({{"a", "b", 9, kTime}, {"b", "c", 9}, {"c", "", 9, kTime}});
  EXPECT_EQ(units_of(profile), "ab c");
  profile.costs[1] = {.forward = Nanos(1)};
  EXPECT_EQ(units_of(profile), "a b c");
  profile.costs[1] = {.backward = Nanos(1)};
  EXPECT_EQ(units_of(profile), "a b c");
  profile.costs[1] = {.update = Nanos(1)};
  EXPECT_EQ(units_of(profile), "a b c");
  profile.costs[1] = {.weights = Bytes{1}};
  EXPECT_EQ(units_of(profile), "a b c");
}

TEST(LayerUnits, HoldNoInputs) {
  EXPECT_EQ(units_of({{"x", "a", 9}, {"a", "", 1}}, "x"), "a");
  EXPECT_EQ(units_of({{"x", "", 9}}, "x"), "");
}

TEST(LayerUnits, OfANetworkThatTakesNoTimeAreItsSeparateParts) {
  EXPECT_EQ(units_of({{"a", "b", 1}, {"b", "c", 2}, {"c", "", 3}, {"d", "e", 1}, {"e", "", 0}}),
            "abc de");
}

// Layer s is declared first, but comes with its user.
TEST(LayerUnits, StandWhereTheLayerStandsThatTheOthersJoined) {
  EXPECT_EQ(units_of({{"s", "c", 9},
                      {"a", "b", 1, kTime},
                      {"b", "ci", 3, kTime},
                      {"c", "", 1, kTime},
                      {"i", "", 2}}),
            "a bi sc");
}

TEST(SingleLayers, AreAllLayersThatComputeInTheOrderOfTheGraph) {
  const profile::Profile profile =
      profile_of({{"c", "", 1}, {"x", "a", 1}, {"b", "c", 1}, {"a", "b", 1}}, "x");
  EXPECT_EQ(text_of(profile, single_layers(profile)), "a b c");
}

}  // namespace
}  // namespace pipedream::plan
