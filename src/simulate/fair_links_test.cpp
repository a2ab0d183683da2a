#include "simulate/fair_links.h"

#include <gtest/gtest.h>

#include "simulate/fair_links_testing.h"

namespace pipedream::simulate {
namespace {

using Ends = std::vector<Nanos>;

// Bytes per nanosecond.
std::vector<Bandwidth> links_of(const std::vector<double>& speeds) {
  std::vector<Bandwidth> links;
  for (const double speed : speeds) links.push_back({speed * 1e9});
  return links;
}

Ends ends_of(const std::vector<double>& speeds, const std::vector<FlowCase>& flows) {
  FairLinks links(links_of(speeds));
  return ends_of(links, flows);
}

TEST(FairLinks, AFlowAloneTakesItsVolumeOverTheSlowestLink) {
  EXPECT_EQ(ends_of({1}, {{Nanos(5), {{0}}, 1000}}), Ends{Nanos(1005)});
  EXPECT_EQ(ends_of({1, 0.25, 4}, {{Nanos(5), {{0}, {1}, {2}}, 1000}}), Ends{Nanos(4005)});
  EXPECT_EQ(ends_of({3}, {{Nanos(0), {{0}}, 10}}), Ends{Nanos(3)}) << "rounded to the nearest";
  EXPECT_EQ(ends_of({3}, {{Nanos(0), {{0}}, 11}}), Ends{Nanos(4)});
}

TEST(FairLinks, AFlowOfNothingTakesNoTime) {
  EXPECT_EQ(ends_of({1}, {{Nanos(7), {{0}}, 0}}), Ends{Nanos(7)});
}

// Half speed until 1,000, when the second has moved its 500; the first moves its other 500 alone.
TEST(FairLinks, TwoFlowsShareALinkAndOneThatEndsFreesItsPart) {
  EXPECT_EQ(ends_of({1}, {{Nanos(0), {{0}}, 1000}, {Nanos(0), {{0}}, 500}}),
            (Ends{Nanos(1500), Nanos(1000)}));
}

// Alone until 400, then half speed for its last 600.
TEST(FairLinks, AFlowThatComesLaterTakesItsPartFromThenOn) {
  EXPECT_EQ(ends_of({1}, {{Nanos(0), {{0}}, 1000}, {Nanos(400), {{0}}, 1000}}),
            (Ends{Nanos(1600), Nanos(2000)}));
}

// The second flow gets a quarter on its other link; what it leaves the two others share.
TEST(FairLinks, WhatOneFlowCannotUseGoesToTheOthers) {
  EXPECT_EQ(
      ends_of({1, 0.25},
              {{Nanos(0), {{0}}, 375}, {Nanos(0), {{0}, {1}}, 10000}, {Nanos(0), {{0}}, 375}}),
      (Ends{Nanos(1000), Nanos(40000), Nanos(1000)}));
}

// Three links in a row and a long flow over all of them: it meets the worst one's share, the short
// ones take the rest of theirs.
TEST(FairLinks, ALongFlowIsHeldUpByItsMostCrowdedLink) {
  EXPECT_EQ(ends_of({1, 1, 1}, {{Nanos(0), {{0}, {1}, {2}}, 250},
                                {Nanos(0), {{0}}, 750},
                                {Nanos(0), {{1}}, 250},
                                {Nanos(0), {{1}}, 250},
                                {Nanos(0), {{1}}, 250},
                                {Nanos(0), {{2}}, 750}}),
            (Ends{Nanos(1000), Nanos(1000), Nanos(1000), Nanos(1000), Nanos(1000), Nanos(1000)}));
}

// Two bytes on link 0 for each byte of progress: alone half the speed; beside another, both
// progress at a third.
TEST(FairLinks, WeightsSayWhatAFlowTakesPerByteOfItsProgress) {
  EXPECT_EQ(ends_of({1}, {{Nanos(0), {{0, 2}}, 1000}}), Ends{Nanos(2000)});
  EXPECT_EQ(ends_of({1}, {{Nanos(0), {{0, 2}}, 1000}, {Nanos(0), {{0, 1}}, 1000}}),
            (Ends{Nanos(3000), Nanos(3000)}));
  EXPECT_EQ(ends_of({1, 1}, {{Nanos(0), {{0, 1}, {1, 0.5}}, 1000}, {Nanos(0), {{1}}, 1000}}),
            (Ends{Nanos(1500), Nanos(1500)}))
      << "1/1.5 each on link 1";
}

TEST(FairLinks, FlowsThatShareNothingDoNotMeet) {
  EXPECT_EQ(ends_of({1, 1}, {{Nanos(0), {{0}}, 1000}, {Nanos(10), {{1}}, 1000}}),
            (Ends{Nanos(1000), Nanos(1010)}));
  FairLinks links(links_of({1, 1}));
  const std::vector<Use> one{{0}};
  const std::vector<Use> other{{1}};
  (void)links.start(Nanos(0), one, 1000);
  const FlowId second = links.start(Nanos(10), other, 1000);
  ASSERT_EQ(links.changes().size(), 1U) << "only the new one's end is news";
  EXPECT_EQ(links.changes()[0].flow, second);
}

TEST(FairLinks, AnEarlierAnswerHoldsNoLonger) {
  FairLinks links(links_of({1}));
  const std::vector<Use> uses{{0}};
  const FlowId first = links.start(Nanos(0), uses, 1000);
  const std::uint32_t old = links.changes()[0].generation;
  EXPECT_TRUE(links.holds(first, old));
  const FlowId second = links.start(Nanos(10), uses, 100);
  EXPECT_EQ(links.changes().size(), 2U);
  EXPECT_FALSE(links.holds(first, old));
  links.finish(Nanos(210), second);
  ASSERT_EQ(links.changes().size(), 1U);
  EXPECT_EQ(links.changes()[0].end, Nanos(1100));
  EXPECT_FALSE(links.holds(second, 1)) << "it is over";
}

TEST(FairLinks, CountTheBytesOfFinishedFlowsByWeight) {
  FairLinks links(links_of({1, 1, 1}));
  (void)ends_of(links, {{Nanos(0), {{0, 1}, {1, 0.5}}, 1000}, {Nanos(3), {{1, 2}}, 10}});
  EXPECT_EQ(links.bytes(0), 1000);
  EXPECT_EQ(links.bytes(1), 520);
  EXPECT_EQ(links.bytes(2), 0);
}

TEST(FairLinksDeathTest, AFlowEndsOnce) {
  FairLinks links(links_of({1}));
  const std::vector<Use> uses{{0}};
  const FlowId flow = links.start(Nanos(0), uses, 1000);
  links.finish(Nanos(1000), flow);
  EXPECT_DEATH(links.finish(Nanos(1000), flow), "flow.active");
}

}  // namespace
}  // namespace pipedream::simulate
