#include "simulate/fair_links.h"

#include <gtest/gtest.h>

#include "simulate/fair_links_testing.h"

namespace pipedream::simulate {
namespace {

using Ends = std::vector<Nanos>;

// Returns links with these bandwidths, given in bytes per nanosecond.
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

// Both flows have half the speed until 1,000 ns, when the second has moved its 500 bytes. The first
// then moves its other 500 bytes alone.
TEST(FairLinks, TwoFlowsShareALinkAndOneThatEndsFreesItsPart) {
  EXPECT_EQ(ends_of({1}, {{Nanos(0), {{0}}, 1000}, {Nanos(0), {{0}}, 500}}),
            (Ends{Nanos(1500), Nanos(1000)}));
}

// The first flow is alone until 400 ns, and moves its last 600 bytes at half the speed.
TEST(FairLinks, AFlowThatComesLaterTakesItsPartFromThenOn) {
  EXPECT_EQ(ends_of({1}, {{Nanos(0), {{0}}, 1000}, {Nanos(400), {{0}}, 1000}}),
            (Ends{Nanos(1600), Nanos(2000)}));
}

// The second flow gets only a quarter of a byte per nanosecond on link 1. The two other flows share
// what it leaves of link 0.
TEST(FairLinks, WhatOneFlowCannotUseGoesToTheOthers) {
  EXPECT_EQ(
      ends_of({1, 0.25},
              {{Nanos(0), {{0}}, 375}, {Nanos(0), {{0}, {1}}, 10000}, {Nanos(0), {{0}}, 375}}),
      (Ends{Nanos(1000), Nanos(40000), Nanos(1000)}));
}

// A long flow uses three links. On link 1 it is one of four flows, so it gets a quarter. The short
// flows on links 0 and 2 get the other three quarters.
TEST(FairLinks, ALongFlowIsHeldUpByItsMostCrowdedLink) {
  EXPECT_EQ(ends_of({1, 1, 1}, {{Nanos(0), {{0}, {1}, {2}}, 250},
                                {Nanos(0), {{0}}, 750},
                                {Nanos(0), {{1}}, 250},
                                {Nanos(0), {{1}}, 250},
                                {Nanos(0), {{1}}, 250},
                                {Nanos(0), {{2}}, 750}}),
            (Ends{Nanos(1000), Nanos(1000), Nanos(1000), Nanos(1000), Nanos(1000), Nanos(1000)}));
}

// A flow with weight 2 moves two bytes over link 0 per byte of its own. Alone it has half the
// speed. Beside a flow with weight 1, both have a third of the speed.
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
