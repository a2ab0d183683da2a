#include "report/timeline_idle.h"

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

using namespace std::chrono_literals;
using schedule::Backward;
using schedule::Forward;
using schedule::Update;
using timeline::Event;
using Rest = Gap::Rest;

// Returns the gaps of a worker with these events, in a run of 20 ns.
std::vector<Gap> gaps_in(const std::vector<Event>& events, const RunShape& shape) {
  const timeline::Timeline timeline{events};
  return gaps_of(lanes_of(timeline).front(), shape, 20ns);
}

Event event_of(schedule::Op op, int start, int end) {
  return {WorkerId{0}, op, Nanos{start}, Nanos{end}};
}

constexpr RunShape kPipeline{.is_pipeline = true};
constexpr RunShape kFlushing{.is_pipeline = true, .flushes = true};

std::vector<Rest> causes_in(const std::vector<Event>& events, const RunShape& shape) {
  std::vector<Rest> causes;
  for (const Gap& gap : gaps_in(events, shape)) causes.push_back(gap.rest);
  return causes;
}

TEST(GapsOf, AreWhereNothingIsComputed) {
  const auto gaps = gaps_in(
      {event_of(Forward{}, 2, 4), event_of(Backward{}, 4, 7), event_of(Update{}, 7, 7)}, kPipeline);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps[0], (Gap{.start = 0ns, .end = 2ns, .rest = Rest::kFill}));
  EXPECT_EQ(gaps[1], (Gap{.start = 7ns, .end = 20ns, .rest = Rest::kDrain}));
}

TEST(GapsOf, APipelineFillsBeforeTheFirstBackwardAndDrainsAfterTheLastForward) {
  EXPECT_EQ(
      causes_in({event_of(Forward{}, 1, 2), event_of(Backward{}, 3, 4), event_of(Backward{}, 5, 6),
                 event_of(Forward{}, 7, 8), event_of(Backward{}, 9, 10)},
                kPipeline),
      (std::vector{Rest::kFill, Rest::kFill, Rest::kWorker, Rest::kWorker, Rest::kDrain,
                   Rest::kDrain}));
}

TEST(GapsOf, AFlushingPipelineFillsAndDrainsAroundEachUpdate) {
  const std::vector<Event> events = {event_of(Forward{}, 0, 2),   event_of(Backward{}, 3, 4),
                                     event_of(Backward{}, 5, 6),  event_of(Update{}, 6, 6),
                                     event_of(Forward{}, 7, 8),   event_of(Backward{}, 9, 10),
                                     event_of(Backward{}, 11, 20)};
  EXPECT_EQ(causes_in(events, kFlushing),
            (std::vector{Rest::kFill, Rest::kDrain, Rest::kFill, Rest::kFill, Rest::kDrain}));
  EXPECT_EQ(causes_in(events, kPipeline),
            (std::vector{Rest::kFill, Rest::kWorker, Rest::kWorker, Rest::kDrain, Rest::kDrain}));
}

TEST(GapsOf, WithoutAPipelineNothingFillsOrDrains) {
  EXPECT_EQ(causes_in({event_of(Forward{}, 1, 2), event_of(Backward{}, 3, 4)}, {}),
            (std::vector{Rest::kWorker, Rest::kWorker, Rest::kDone}));
}

TEST(GapsOf, SayWhatWasWaitedFor) {
  Event forward = event_of(Forward{}, 5, 6);
  forward.transfer = 2ns;
  forward.wait = 1ns;
  Event await = event_of(schedule::Await{}, 10, 10);
  await.transfer = 1ns;
  await.wait = 3ns;
  const auto gaps = gaps_in({forward, await, event_of(schedule::Pull{}, 12, 20)}, kPipeline);
  ASSERT_EQ(gaps.size(), 3U);
  EXPECT_EQ(gaps[0].transfer, 2ns);
  EXPECT_EQ(gaps[0].data_set, 1ns);
  EXPECT_EQ(gaps[1].transfer, 1ns);
  EXPECT_EQ(gaps[1].replicas, 3ns);
  EXPECT_EQ(gaps[2].transfer, 2ns) << "the push before a fetch of weights";
}

TEST(WordsOfAGap, NameOneCauseBeforeTheTimes) {
  const Axis axis = axis_of(10ms, 10);
  const auto words = [&](Rest rest) {
    return words_of(Gap{.start = 1ms, .end = 3ms, .rest = rest}, axis);
  };
  EXPECT_EQ(words(Rest::kFill), "idle while the pipeline fills: 1 ms to 3 ms (2 ms)");
  EXPECT_EQ(words(Rest::kDrain), "idle while the pipeline drains: 1 ms to 3 ms (2 ms)");
  EXPECT_EQ(words(Rest::kWorker), "idle waiting for another worker: 1 ms to 3 ms (2 ms)");
  EXPECT_EQ(words(Rest::kDone), "idle with nothing left to do: 1 ms to 3 ms (2 ms)");
  EXPECT_EQ(words_of(Gap{.start = 1ms, .end = 3ms, .transfer = 2ms}, axis),
            "idle waiting for a transfer: 1 ms to 3 ms (2 ms)");
}

TEST(WordsOfAGap, NameSeveralCausesWithTheirTimes) {
  const Gap gap{.start = 1ms, .end = 3ms, .transfer = 200us, .data_set = 300us, .replicas = 500us};
  EXPECT_EQ(words_of(gap, axis_of(10ms, 10)),
            "idle: 1 ms to 3 ms (2 ms): 200 µs waiting for a transfer, 300 µs waiting for the data "
            "set, 500 µs waiting for other replicas, 1 ms waiting for another worker");
}

}  // namespace
}  // namespace pipedream::report
