#include "report/profile_table.h"

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

// Returns data ─▶ conv ─▶ relu ─▶ fc. The layers take 30 %, 10 % and 60 % of a millisecond.
profile::Profile tiny_profile() {
  graph::Builder builder;
  builder.add_input("data", {{"out", {}, Bytes{100}}});
  builder.add_layer("conv", "Conv2d(3, 8)", {{"out", {}, Bytes{2048}}});
  builder.add_layer("relu", "ReLU", {{"out", {}, Bytes{2048}}});
  builder.add_layer("fc", "Linear(8, 2)", {{"out", {}, Bytes{8}}, {"also", {}, Bytes{4}}});
  builder.add_edge("data", "", "conv");
  builder.add_edge("conv", "", "relu");
  builder.add_edge("relu", "", "fc");
  profile::Profile profile{.model = "tiny", .graph = std::move(builder).build()};
  profile.costs = {{},
                   {.forward = Nanos(100'000),
                    .backward = Nanos(200'000),
                    .weights = Bytes{864},
                    .stash = Bytes{3072},
                    .keeps_input = {true},
                    .keeps_output = {false}},
                   {.forward = Nanos(50'000),
                    .backward = Nanos(50'000),
                    .stash = Bytes{256},
                    .keeps_input = {false},
                    .keeps_output = {false}},
                   {.forward = Nanos(200'000),
                    .backward = Nanos(400'000),
                    .weights = Bytes{64},
                    .keeps_input = {false},
                    .keeps_output = {false, false}}};
  return profile;
}

// The layers of tiny_profile().
constexpr const char* kTinyLayers =
    "layer  kind          forward  backward   share                  output  weights   kept\n"
    "conv   Conv2d(3, 8)   100 us    200 us  30.0 %  ██████           2 KiB    864 B  3 KiB\n"
    "relu   ReLU            50 us     50 us  10.0 %  ██               2 KiB        -  256 B\n"
    "fc     Linear(8, 2)   200 us    400 us  60.0 %  ████████████ ◀    12 B     64 B      -\n"
    "\n"
    "◀ this layer: half of the time\n"
    "\n";

TEST(ProfileTable, ShowsEachLayerInOrderAndTheSums) {
  profile::Profile profile = tiny_profile();
  profile.batch = 16;
  profile.device = "cpu";
  profile.threads = 2;
  profile.input = Nanos(7'000);
  profile.whole = Nanos(800'000);
  EXPECT_EQ(
      profile_table(profile, 10),
      "tiny, minibatch of 16, 3 layers, on cpu with 2 threads\n"
      "\n" +
          std::string(kTinyLayers) +
          "all layers: 350 us forward + 650 us backward = 1 ms per minibatch, 16000.0 samples/s; "
          "928 B of weights, 3.25 KiB kept for backward\n"
          "the whole model in one go: 800 us; the sum of its layers is 25.0 % more\n"
          "more than 5 % apart: do not trust these figures; was the machine busy?\n"
          "reading a minibatch: 7 us\n");
}

TEST(ProfileTable, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(profile_table(tiny_profile(), 3),
            "tiny, 3 layers\n"
            "\n" +
                std::string(kTinyLayers) +
                "all layers: 350 us forward + 650 us backward = 1 ms per minibatch; 928 B of "
                "weights, 3.25 "
                "KiB kept for backward\n"
                "reading a minibatch: 0 ns\n");
}

TEST(ProfileTable, ShowsUpdatesWhereThereAreAny) {
  profile::Profile profile = tiny_profile();
  profile.batch = 16;
  profile.costs[1].update = Nanos(600'000);
  profile.costs[3].update = Nanos(400'000);
  profile.whole = Nanos(2'000'000);
  EXPECT_EQ(
      profile_table(profile, 10),
      "tiny, minibatch of 16, 3 layers\n"
      "\n"
      "layer  kind          forward  backward  update   share                  output  weights "
      "  kept\n"
      "conv   Conv2d(3, 8)   100 us    200 us  600 us  45.0 %  ██████████▊      2 KiB    864 B "
      " 3 KiB\n"
      "relu   ReLU            50 us     50 us       -   5.0 %  █▎               2 KiB        - "
      " 256 B\n"
      "fc     Linear(8, 2)   200 us    400 us  400 us  50.0 %  ████████████ ◀    12 B     64 B "
      "     -\n"
      "\n"
      "◀ this layer: half of the time\n"
      "\n"
      "all layers: 350 us forward + 650 us backward + 1 ms update = 2 ms per minibatch, 8000.0 "
      "samples/s; 928 B of weights, 3.25 KiB kept for backward\n"
      "the whole model in one go: 2 ms; the sum of its layers is 0.0 % more\n"
      "reading a minibatch: 0 ns\n");
}

TEST(ProfileTable, SaysHowMuchIsFixedWhereThatIsKnown) {
  profile::Profile profile = tiny_profile();
  EXPECT_EQ(profile_table(profile, 10).find("fixed"), std::string::npos);
  profile.costs[1].fixed_forward = Nanos(20'000);
  profile.costs[3].fixed_backward = Nanos(100'000);
  const std::string table = profile_table(profile, 10);
  EXPECT_NE(table.find("kept for backward\nfixed, however few samples: 120 us of it, 12.0 %; each "
                       "microbatch takes that\n"),
            std::string::npos)
      << table;
}

TEST(ProfileTable, SaysWhetherTheMachineWasSteady) {
  profile::Profile profile = tiny_profile();
  profile.passes = 12;
  const auto has = [&](const std::string& text) {
    return profile_table(profile, 10).find(text) != std::string::npos;
  };
  EXPECT_TRUE(has("medians of 12 passes\n"));
  profile.spread = 0.031;
  EXPECT_TRUE(has("medians of 12 passes, whose times are 3.1 % apart\n"));
  EXPECT_FALSE(has("was not steady"));
  profile.spread = 0.25;
  EXPECT_TRUE(has("25.0 % apart\n"));
  EXPECT_FALSE(has("was not steady")) << "passes of a millisecond say nothing about the machine";
  profile.costs[1].forward = Nanos(5'000'000);
  EXPECT_TRUE(has("25.0 % apart\nthe machine was not steady: measure again"));
}

TEST(ProfileTable, SaysWhatAveragingTakesWhereThatIsKnown) {
  profile::Profile profile = tiny_profile();
  EXPECT_EQ(profile_table(profile, 10).find("averaging"), std::string::npos);
  profile.costs[1].averaging = Nanos(20'000);
  profile.costs[3].averaging = Nanos(100'000);
  EXPECT_NE(
      profile_table(profile, 10)
          .find("kept for backward\naveraging with other replicas takes each another 120 us\n"),
      std::string::npos);
}

TEST(ProfileTable, ShowsOnlyTheHeaviestOfMoreLayersThanWanted) {
  profile::Profile profile = tiny_profile();
  profile.costs[1] = profile.costs[3];  // conv and fc tie at 46.2 %
  profile.threads = 1;
  profile.whole = Nanos(2'600'000);
  EXPECT_EQ(
      profile_table(profile, 2),
      "tiny, 3 layers with 1 thread\n"
      "\n"
      "layer  kind          forward  backward   share                  output  weights  kept\n"
      "conv   Conv2d(3, 8)   200 us    400 us  46.2 %  ████████████ ◀   2 KiB     64 B     -\n"
      "fc     Linear(8, 2)   200 us    400 us  46.2 %  ████████████ ◀    12 B     64 B     -\n"
      "… and 1 lighter layer with 7.7 % of the time (`all` shows them)\n"
      "\n"
      "◀ these 2 layers: half of the time\n"
      "\n"
      "all layers: 450 us forward + 850 us backward = 1.3 ms per minibatch; 128 B of weights, "
      "256 B kept for backward\n"
      "the whole model in one go: 2.6 ms; the sum of its layers is 50.0 % less\n"
      "more than 5 % apart: do not trust these figures; was the machine busy?\n"
      "reading a minibatch: 0 ns\n");
  EXPECT_EQ(
      profile_table(profile, 1),
      "tiny, 3 layers with 1 thread\n"
      "\n"
      "layer  kind          forward  backward   share                  output  weights  kept\n"
      "conv   Conv2d(3, 8)   200 us    400 us  46.2 %  ████████████ ◀   2 KiB     64 B     -\n"
      "… and 2 lighter layers with 53.8 % of the time (`all` shows them)\n"
      "\n"
      "◀ this and 1 of the lighter layers: half of the time\n"
      "\n"
      "all layers: 450 us forward + 850 us backward = 1.3 ms per minibatch; 128 B of weights, "
      "256 B kept for backward\n"
      "the whole model in one go: 2.6 ms; the sum of its layers is 50.0 % less\n"
      "more than 5 % apart: do not trust these figures; was the machine busy?\n"
      "reading a minibatch: 0 ns\n");
}

TEST(ProfileTable, ALayerThatTakesNoTimeIsHalfOfNothing) {
  graph::Builder builder;
  builder.add_layer("a layer whose name is far too long to show", "", {});
  profile::Profile profile{
      .model = "idle", .batch = 4, .whole = Nanos(0), .graph = std::move(builder).build()};
  profile.costs.resize(1);
  EXPECT_EQ(
      profile_table(profile, 10),
      "idle, minibatch of 4, 1 layer\n"
      "\n"
      "layer                         kind  forward  backward  share    output  weights  kept\n"
      "a layer whose name is far t…           0 ns      0 ns  0.0 %       0 B        -     -\n"
      "\n"
      "all layers: 0 ns forward + 0 ns backward = 0 ns per minibatch; 0 B of weights, "
      "0 B kept for backward\n"
      "reading a minibatch: 0 ns\n");
}

TEST(SumError, IsTheShareByWhichTheSumIsLarger) {
  profile::Profile profile = tiny_profile();
  profile.whole = Nanos(800'000);
  EXPECT_DOUBLE_EQ(sum_error(profile), 0.25);
  profile.whole = Nanos(2'000'000);
  EXPECT_DOUBLE_EQ(sum_error(profile), -0.5);
}

TEST(SumErrorDeathTest, NeedsTheTimeOfTheWholeModel) {
  EXPECT_DEATH((void)sum_error(tiny_profile()), "profile.whole > Nanos\\(0\\)");
}

}  // namespace
}  // namespace pipedream::report
