#include "cost/links.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace pipedream::cost {
namespace {

std::vector<WorkerId> workers(const std::vector<int>& numbers) {
  std::vector<WorkerId> ids;
  for (const int number : numbers) ids.push_back(WorkerId{number});
  return ids;
}

// Two servers of two workers: 2 GB/s and 3 ns inside a server, 1 GB/s and 50 ns between them.
const cluster::Cluster kTwoServers{
    "two servers",
    {{.name = "server", .count = 2, .bandwidth = {2e9}, .latency = Nanos(3)},
     {.name = "room", .count = 2, .bandwidth = {1e9}, .latency = Nanos(50)}},
    std::vector<cluster::Device>(4)};

TEST(TransferTime, IsLatencyAndBytesOverBandwidthOfTheInnermostCommonLevel) {
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{0}, WorkerId{1}, Bytes{1000}), Nanos(3 + 500));
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{3}, WorkerId{2}, Bytes{1000}), Nanos(3 + 500));
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{0}, WorkerId{2}, Bytes{1000}), Nanos(50 + 1000));
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{2}, WorkerId{1}, Bytes{1000}), Nanos(50 + 1000));
}

TEST(TransferTime, OfNothingIsTheLatency) {
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{0}, WorkerId{3}, Bytes{0}), Nanos(50));
}

TEST(TransferTime, IsRoundedToTheNearestNanosecond) {
  EXPECT_EQ(transfer_time(kTwoServers, WorkerId{0}, WorkerId{1}, Bytes{3}), Nanos(3 + 2));
  const cluster::Cluster fast{
      "fast", {{.name = "room", .count = 2, .bandwidth = {3e9}}}, std::vector<cluster::Device>(2)};
  EXPECT_EQ(transfer_time(fast, WorkerId{0}, WorkerId{1}, Bytes{1}), Nanos(0));
  EXPECT_EQ(transfer_time(fast, WorkerId{0}, WorkerId{1}, Bytes{10}), Nanos(3));
  EXPECT_EQ(transfer_time(fast, WorkerId{0}, WorkerId{1}, Bytes{11}), Nanos(4));
}

// Two rooms of three servers of two workers. The workers of a server share one network card; at the
// other levels each worker has a link of its own.
const cluster::Cluster kTwoRooms{"two rooms",
                                 {{.name = "server", .count = 2, .bandwidth = {8e9}},
                                  {.name = "room", .count = 3, .bandwidth = {2e9}, .shared = true},
                                  {.name = "house", .count = 2, .bandwidth = {1e9}}},
                                 std::vector<cluster::Device>(12)};

TEST(Links, NumbersTheComponentsAndGroupsOfEachLevelFromTheInsideOut) {
  const Links links(kTwoRooms);
  EXPECT_EQ(links.workers(), 12);
  ASSERT_EQ(links.levels(), 3U);
  const auto row = [&](int worker) {
    std::vector<int> numbers;
    for (std::size_t k = 0; k < 3; ++k) {
      numbers.push_back(links.component(k, worker));
      numbers.push_back(static_cast<int>(links.group(k, worker)));
    }
    return numbers;
  };
  EXPECT_EQ(row(0), (std::vector<int>{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(row(5), (std::vector<int>{5, 2, 2, 0, 0, 0}));
  EXPECT_EQ(row(7), (std::vector<int>{7, 3, 3, 1, 1, 0}));
  EXPECT_EQ(row(11), (std::vector<int>{11, 5, 5, 1, 1, 0}));
}

TEST(Links, SaysHowManyWorkersAComponentHolds) {
  const Links links(kTwoRooms);
  EXPECT_EQ(links.inside(0), 1);
  EXPECT_EQ(links.inside(1), 2);
  EXPECT_EQ(links.inside(2), 6);
}

TEST(Links, HasOneLinkPerComponentWhereTheLevelIsSharedElseOnePerWorker) {
  const Links links(kTwoRooms);
  EXPECT_EQ(links.link(0, 7), 7U);
  EXPECT_EQ(links.link(1, 7), 3U);
  EXPECT_EQ(links.link(1, 6), 3U);
  EXPECT_EQ(links.link(2, 7), 7U);
}

TEST(Links, KeepsTheLevelsOfTheCluster) {
  const Links links(kTwoRooms);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(links.level(k), kTwoRooms.levels[k]);
}

// Two servers of two workers: 4 GB/s and 1 ms inside a server, 1 GB/s and 10 ms between them.
cluster::Cluster servers(bool shared_cards) {
  return {"servers",
          {{.name = "server", .count = 2, .bandwidth = {4e9}, .latency = Nanos(1'000'000)},
           {.name = "room",
            .count = 2,
            .bandwidth = {1e9},
            .latency = Nanos(10'000'000),
            .shared = shared_cards}},
          std::vector<cluster::Device>(4)};
}

double seconds_of(const cluster::Cluster& cluster, const std::vector<int>& group, double weights,
                  Exchange pattern) {
  return exchange_time(Links(cluster), workers(group), weights, pattern).count();
}

TEST(ExchangeTime, OfARingIsTwiceTheOthersShareAndALatencyForEachStep) {
  const cluster::Cluster server{
      "server",
      {{.name = "server", .count = 4, .bandwidth = {8e9}, .latency = Nanos(1'000'000)}},
      std::vector<cluster::Device>(4)};
  // 2·3/4·8 GB over 8 GB/s in 6 steps; with three workers 2·2/3·6 GB in 4 steps.
  EXPECT_DOUBLE_EQ(seconds_of(server, {0, 1, 2, 3}, 8e9, Exchange::kRing), 1.5 + 0.006);
  EXPECT_DOUBLE_EQ(seconds_of(server, {0, 1, 3}, 6e9, Exchange::kRing), 1 + 0.004);
}

TEST(ExchangeTime, OfAllToAllAndOfParameterServersTakesTwoSteps) {
  const cluster::Cluster server{
      "server",
      {{.name = "server", .count = 4, .bandwidth = {8e9}, .latency = Nanos(1'000'000)}},
      std::vector<cluster::Device>(4)};
  for (const Exchange pattern : {Exchange::kAllToAll, Exchange::kParameterServer}) {
    EXPECT_DOUBLE_EQ(seconds_of(server, {0, 1, 2, 3}, 8e9, pattern), 1.5 + 0.002);
    EXPECT_DOUBLE_EQ(seconds_of(server, {0, 1, 3}, 6e9, pattern), 1 + 0.002);
  }
}

TEST(ExchangeTime, InsideOneServerUsesNeitherTheCardsNorTheirLatency) {
  for (const bool shared : {false, true})  // 2·1/2·2 GB over 4 GB/s, in 2 steps of 1 ms
    for (const Exchange pattern :
         {Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer})
      EXPECT_DOUBLE_EQ(seconds_of(servers(shared), {2, 3}, 2e9, pattern), 0.5 + 0.002);
}

// The ring is 0 → 1 ⇒ 2 ⇒ 0, with ⇒ between servers. Each server sends on only one such edge, so a
// shared card is no slower.
TEST(ExchangeTime, OfARingOverServersCrossesEachCardOnce) {
  for (const bool shared : {false, true})  // 2·2/3·3 GB over 1 GB/s, in 4 steps of 10 ms
    EXPECT_DOUBLE_EQ(seconds_of(servers(shared), {0, 1, 2}, 3e9, Exchange::kRing), 4 + 0.04);
}

// First 0 ⇄ 1 and 2 ⇄ 3 inside the servers, then 0 ⇄ 2 and 1 ⇄ 3 with half of the weights each.
TEST(ExchangeTime, OfARingWithAsManyWorkersInEachServerGoesInsideFirst) {
  const double inside = 0.5 + 0.002;  // 2·1/2·2 GB over 4 GB/s, in 2 steps of 1 ms
  EXPECT_DOUBLE_EQ(seconds_of(servers(true), {0, 1, 2, 3}, 2e9, Exchange::kRing),
                   inside + 2 + 0.02);
  EXPECT_DOUBLE_EQ(seconds_of(servers(false), {0, 1, 2, 3}, 2e9, Exchange::kRing),
                   inside + 1 + 0.02);
}

// Each of four workers sends 2/4·2 GB to each of the other three. Two of the three are in the other
// server.
TEST(ExchangeTime, OfAllToAllOverServersIsTwiceAsLongWhereTwoWorkersShareACard) {
  for (const Exchange pattern : {Exchange::kAllToAll, Exchange::kParameterServer}) {
    EXPECT_DOUBLE_EQ(seconds_of(servers(false), {0, 1, 2, 3}, 2e9, pattern), 2 + 0.02);
    EXPECT_DOUBLE_EQ(seconds_of(servers(true), {0, 1, 2, 3}, 2e9, pattern), 4 + 0.02);
  }
}

TEST(ExchangeTime, OfOneWorkerPerServerIsTheSameForAllPatternsAndCards) {
  for (const bool shared : {false, true})
    for (const Exchange pattern :
         {Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer})
      EXPECT_DOUBLE_EQ(seconds_of(servers(shared), {1, 2}, 2e9, pattern), 2 + 0.02);
}

TEST(ExchangeTime, IsThatOfTheSlowestLinkAlsoWhereItLiesInside) {
  cluster::Cluster cluster = servers(true);
  cluster.levels[0].bandwidth = {0.25e9};
  cluster.levels[0].latency = Nanos(20'000'000);  // a step waits for its slowest message
  EXPECT_DOUBLE_EQ(seconds_of(cluster, {0, 1, 2}, 3e9, Exchange::kRing), 16 + 0.08);
}

TEST(ExchangeTime, DoesNotDependOnTheOrderOfTheGroup) {
  for (const Exchange pattern : {Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer})
    EXPECT_EQ(seconds_of(servers(true), {1, 3, 2, 0}, 2e9, pattern),
              seconds_of(servers(true), {0, 1, 2, 3}, 2e9, pattern));
}

TEST(ExchangeTime, OfOneWorkerOrNoneIsZero) {
  for (const Exchange pattern :
       {Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer}) {
    EXPECT_EQ(seconds_of(servers(true), {2}, 2e9, pattern), 0);
    EXPECT_EQ(seconds_of(servers(true), {}, 2e9, pattern), 0);
  }
}

// A cluster of one level at 1 B/s, so that seconds are bytes.
cluster::Cluster one_server(int count) {
  return {"one server",
          {{.name = "server", .count = count, .bandwidth = {1}}},
          std::vector<cluster::Device>(static_cast<std::size_t>(count))};
}

// Servers with slow network cards: 1000 B/s inside a server, 1 B/s between servers.
cluster::Cluster slow_cards(int servers, int workers_each, bool shared) {
  return {"slow cards",
          {{.name = "server", .count = workers_each, .bandwidth = {1000}},
           {.name = "room", .count = servers, .bandwidth = {1}, .shared = shared}},
          std::vector<cluster::Device>(static_cast<std::size_t>(servers * workers_each))};
}

void expect_busiest(const LinkLoads& loads, std::size_t level, std::size_t link, double bytes) {
  const LinkLoads::Busiest busiest = loads.busiest();
  EXPECT_EQ(busiest.level, level);
  EXPECT_EQ(busiest.link, link);
  EXPECT_DOUBLE_EQ(busiest.bytes, bytes);
}

TEST(LinkLoads, WithoutTrafficAreZero) {
  const Links links(kTwoRooms);
  const LinkLoads loads(links);
  EXPECT_EQ(loads.busiest().bytes, 0);
  EXPECT_EQ(loads.busiest().time.count(), 0);
  EXPECT_EQ(loads.bytes_in_all(), 0);
}

TEST(LinkLoads, ATransferBetweenTwoWorkersLoadsBothDirectionsOnce) {
  const Links links(kTwoServers);
  LinkLoads loads(links);
  EXPECT_EQ(loads.add_transfer(workers({1}), workers({0}), 100), 0U);
  expect_busiest(loads, 0, 0, 100);  // not 200: the two directions are independent
  EXPECT_DOUBLE_EQ(loads.busiest().time.count(), 100 / 2e9);
  EXPECT_EQ(loads.bytes_in_all(), 200);
}

TEST(LinkLoads, ATransferUsesTheInnermostLevelThatJoinsTheWorkers) {
  const Links links(kTwoRooms);
  LinkLoads server(links);
  EXPECT_EQ(server.add_transfer(workers({6}), workers({7}), 100), 0U);
  expect_busiest(server, 0, 6, 100);
  LinkLoads room(links);
  EXPECT_EQ(room.add_transfer(workers({7}), workers({10}), 100), 1U);
  expect_busiest(room, 1, 3, 100);  // the card of the fourth server
  LinkLoads house(links);
  EXPECT_EQ(house.add_transfer(workers({5}), workers({6}), 100), 2U);
  expect_busiest(house, 2, 5, 100);
}

TEST(LinkLoads, ATransferFromAWorkerToItselfIsNone) {
  const Links links(kTwoServers);
  LinkLoads loads(links);
  EXPECT_EQ(loads.add_transfer(workers({1}), workers({1}), 100), std::nullopt);
  EXPECT_EQ(loads.add_transfer(workers({2, 0}), workers({2, 0}), 100), std::nullopt);
  EXPECT_EQ(loads.bytes_in_all(), 0);
}

// Even minibatches stay on worker 0; odd minibatches go from worker 1 to worker 2.
TEST(LinkLoads, OnlyMinibatchesThatChangeTheWorkerCount) {
  const Links links(one_server(3));
  LinkLoads loads(links);
  EXPECT_EQ(loads.add_transfer(workers({0, 1}), workers({0, 2}), 100), 0U);
  expect_busiest(loads, 0, 1, 50);
  EXPECT_EQ(loads.bytes_in_all(), 100);
}

TEST(LinkLoads, EqualCountsOfReplicasSendOneToOne) {
  const Links links(slow_cards(2, 2, false));
  LinkLoads loads(links);
  EXPECT_EQ(loads.add_transfer(workers({0, 1}), workers({2, 3}), 100), 1U);
  expect_busiest(loads, 1, 0, 50);
  EXPECT_EQ(loads.bytes_in_all(), 200);
  // The order of the lists decides: here 0 sends to 1 and 3 to 2, both inside a server.
  LinkLoads inside(links);
  EXPECT_EQ(inside.add_transfer(workers({0, 3}), workers({1, 2}), 100), 0U);
  expect_busiest(inside, 0, 0, 50);
  LinkLoads across(links);
  EXPECT_EQ(across.add_transfer(workers({0, 3}), workers({2, 1}), 100), 1U);
  expect_busiest(across, 1, 0, 50);
}

TEST(LinkLoads, ReplicasOnOneCardAddUp) {
  const Links links(slow_cards(2, 2, true));
  LinkLoads loads(links);
  EXPECT_EQ(loads.add_transfer(workers({0, 1}), workers({2, 3}), 100), 1U);
  expect_busiest(loads, 1, 0, 100);
  EXPECT_DOUBLE_EQ(loads.busiest().time.count(), 100);
  EXPECT_EQ(loads.bytes_in_all(), 200);
}

// With 2 and 3 replicas, minibatches 0…5 go 0→2, 1→3, 0→4, 1→2, 0→3, 1→4: every pair occurs once.
TEST(LinkLoads, CoprimeCountsOfReplicasMeetInEveryPair) {
  const Links links(one_server(5));
  LinkLoads loads(links);
  EXPECT_EQ(loads.add_transfer(workers({0, 1}), workers({2, 3, 4}), 120), 0U);
  expect_busiest(loads, 0, 0, 60);
  EXPECT_DOUBLE_EQ(loads.bytes_in_all(), 240);
  // Workers 2, 3 and 4 have 40 each. A further transfer of 25 makes worker 3 the busiest.
  (void)loads.add_transfer(workers({3}), workers({4}), 25);
  expect_busiest(loads, 0, 3, 65);
}

TEST(LinkLoads, ManyReplicasBeforeOneLoadTheOneWithEveryMinibatch) {
  const Links links(one_server(16));
  LinkLoads loads(links);
  std::vector<int> first;
  for (int worker = 0; worker < 15; ++worker) first.push_back(worker);
  EXPECT_EQ(loads.add_transfer(workers(first), workers({15}), 150), 0U);
  expect_busiest(loads, 0, 15, 150);
  EXPECT_DOUBLE_EQ(loads.bytes_in_all(), 300);
}

// The servers are {0,1,2} and {3,4,5}. One stage is on workers 0 and 3, the next on the other four.
// With two and four replicas, the first replica of the one stage sends to the first and third of
// the other, the second replica to the second and fourth.
TEST(LinkLoads, AnInterleavedListKeepsMinibatchesInsideTheServers) {
  const Links links(slow_cards(2, 3, true));
  LinkLoads interleaved(links);
  EXPECT_EQ(interleaved.add_transfer(workers({0, 3}), workers({1, 4, 2, 5}), 120), 0U);
  expect_busiest(interleaved, 0, 0, 60);
  LinkLoads blocked(links);  // 0 sends 30 to 4, and 3 sends 30 to 2; gradients come back
  EXPECT_EQ(blocked.add_transfer(workers({0, 3}), workers({1, 2, 4, 5}), 120), 1U);
  expect_busiest(blocked, 1, 0, 60);
  EXPECT_DOUBLE_EQ(interleaved.bytes_in_all(), 240);
  EXPECT_DOUBLE_EQ(blocked.bytes_in_all(), 240);
}

TEST(LinkLoads, TheBusiestLinkIsTheOneThatTakesLongestNotTheOneWithMostBytes) {
  const Links links(slow_cards(2, 2, true));
  LinkLoads loads(links);
  (void)loads.add_transfer(workers({0}), workers({1}), 900);
  (void)loads.add_transfer(workers({1}), workers({2}), 2);
  expect_busiest(loads, 1, 0, 2);
  EXPECT_DOUBLE_EQ(loads.busiest().time.count(), 2);
  (void)loads.add_transfer(workers({2}), workers({3}), 3000);
  expect_busiest(loads, 0, 2, 3000);
  EXPECT_DOUBLE_EQ(loads.busiest().time.count(), 3);
}

TEST(LinkLoads, ExchangesAddToTheSameCardsAsTransfers) {
  for (const Exchange pattern :
       {Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer}) {
    const Links links(slow_cards(2, 2, true));
    LinkLoads loads(links);
    (void)loads.add_transfer(workers({0}), workers({2}), 100);
    loads.add_exchange(workers({1, 3}), 40, pattern, 1);  // 2·1/2·40, by the other two workers
    expect_busiest(loads, 1, 0, 140);
    EXPECT_DOUBLE_EQ(loads.bytes_in_all(), 2 * 100 + 2 * 40);
  }
  const Links links(slow_cards(2, 2, false));
  LinkLoads apart(links);  // with a link per worker the loads do not add up
  (void)apart.add_transfer(workers({0}), workers({2}), 100);
  apart.add_exchange(workers({1, 3}), 40, Exchange::kRing, 1);
  expect_busiest(apart, 1, 0, 100);
}

TEST(LinkLoads, AnExchangeCountsAsOftenAsItHappensPerMinibatch) {
  for (const Exchange pattern :
       {Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer}) {
    const Links links(one_server(4));
    LinkLoads loads(links);
    loads.add_exchange(workers({0, 1, 2, 3}), 400, pattern, 0.25);
    expect_busiest(loads, 0, 0, 150);
    EXPECT_DOUBLE_EQ(loads.bytes_in_all(), 600);
    loads.add_exchange(workers({0, 1, 2, 3}), 400, pattern, 0.75);
    expect_busiest(loads, 0, 0, 600);
    EXPECT_DOUBLE_EQ(loads.bytes_in_all(), 2400);
  }
}

TEST(LinkLoads, AGroupOfOneExchangesNothing) {
  const Links links(one_server(4));
  LinkLoads loads(links);
  loads.add_exchange(workers({2}), 400, Exchange::kRing, 1);
  loads.add_exchange(workers({2}), 400, Exchange::kAllToAll, 1);
  loads.add_exchange({}, 400, Exchange::kParameterServer, 1);
  EXPECT_EQ(loads.bytes_in_all(), 0);
}

// The servers are {0,1,2}, {3,4,5} and {6,7,8}. In the ring 0-1-3, worker 1 sends to another server
// and receives from none. In the ring 1-2-6, worker 1 receives from another server and sends to
// none.
TEST(LinkLoads, TheTwoDirectionsOfALinkAreCountedApart) {
  const Links links(slow_cards(3, 3, false));
  LinkLoads loads(links);
  loads.add_exchange(workers({0, 1, 3}), 30, Exchange::kRing, 1);
  loads.add_exchange(workers({1, 2, 6}), 30, Exchange::kRing, 1);
  EXPECT_DOUBLE_EQ(loads.busiest().bytes, 40);  // 2·2/3·30 on every link that is used
  EXPECT_EQ(loads.busiest().level, 1U);
}

using Uses = std::vector<LinkUse>;

TEST(LinkUses, OfATransferAreTheSendersLinkOutwardsAndTheReceiversInwards) {
  const Links links(kTwoRooms);
  EXPECT_EQ(transfer_uses(links, WorkerId{0}, WorkerId{1}),
            (Uses{{0, 0, true, 1}, {0, 1, false, 1}}));
  EXPECT_EQ(transfer_uses(links, WorkerId{5}, WorkerId{0}),
            (Uses{{1, 2, true, 1}, {1, 0, false, 1}}))
      << "the cards of servers 2 and 0";
  EXPECT_EQ(transfer_uses(links, WorkerId{5}, WorkerId{6}),
            (Uses{{2, 5, true, 1}, {2, 6, false, 1}}));
}

// The group is two workers of one server and one of another, and a shard is a third of the weights.
// Worker 0 sends one shard inside its server and one through the network card.
TEST(LinkUses, OfAPushAreAShardToEveryOtherServer) {
  const Links links(kTwoRooms);
  constexpr double kShard = 1.0 / 3;
  EXPECT_EQ(push_uses(links, WorkerId{0}, workers({0, 1, 2})), (Uses{{0, 0, true, kShard},
                                                                     {0, 1, false, kShard},
                                                                     {1, 0, true, kShard},
                                                                     {1, 1, false, kShard}}));
  EXPECT_EQ(push_uses(links, WorkerId{2}, workers({0, 1, 2})),
            (Uses{{1, 1, true, 2 * kShard}, {1, 0, false, 2 * kShard}}))
      << "one card on either side";
}

TEST(LinkUses, OfAFetchAreThoseOfAPushTheOtherWay) {
  const Links links(kTwoRooms);
  for (const int worker : {0, 1, 2, 7}) {
    Uses turned = push_uses(links, WorkerId{worker}, workers({7, 2, 1, 0}));
    for (LinkUse& use : turned) use.outwards = !use.outwards;
    EXPECT_EQ(pull_uses(links, WorkerId{worker}, workers({7, 2, 1, 0})), turned);
  }
}

TEST(LinkUses, OfAGroupOfOneAreNone) {
  const Links links(kTwoRooms);
  EXPECT_TRUE(push_uses(links, WorkerId{3}, workers({3})).empty());
  EXPECT_TRUE(pull_uses(links, WorkerId{3}, workers({3})).empty());
  EXPECT_TRUE(exchange_uses(links, workers({3}), Exchange::kRing).at(0).empty());
}

TEST(ExchangeLatency, IsOneOfTheOutermostLevelForEachStep) {
  const Links links(kTwoServers);
  EXPECT_EQ(exchange_latency(links, workers({0, 1}), Exchange::kRing), Nanos(2 * 3));
  EXPECT_EQ(exchange_latency(links, workers({3, 0, 1}), Exchange::kRing), Nanos(4 * 50));
  EXPECT_EQ(exchange_latency(links, workers({0, 1, 2, 3}), Exchange::kRing), Nanos(2 * 3 + 2 * 50))
      << "inside and between: two levels";
  for (const Exchange pattern : {Exchange::kAllToAll, Exchange::kParameterServer}) {
    EXPECT_EQ(exchange_latency(links, workers({0, 1}), pattern), Nanos(2 * 3));
    EXPECT_EQ(exchange_latency(links, workers({0, 1, 2, 3}), pattern), Nanos(2 * 50));
  }
  for (const Exchange pattern : {Exchange::kRing, Exchange::kAllToAll, Exchange::kParameterServer})
    EXPECT_EQ(exchange_latency(links, workers({2}), pattern), Nanos(0));
}

}  // namespace
}  // namespace pipedream::cost
