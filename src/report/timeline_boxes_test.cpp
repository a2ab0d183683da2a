#include "report/timeline_boxes.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

using schedule::Backward;
using schedule::Forward;
using schedule::Update;
using timeline::Event;

Event event_of(schedule::Op op, std::int64_t start, std::int64_t end) {
  return {WorkerId{0}, op, Nanos{start}, Nanos{end}};
}

std::vector<const Event*> row_of_all(const std::vector<Event>& events) {
  std::vector<const Event*> row;
  for (const Event& event : events) row.push_back(&event);
  std::stable_sort(row.begin(), row.end(),
                   [](const Event* a, const Event* b) { return a->start < b->start; });
  return row;
}

TEST(Scale, MapsTheWindowToTheWidth) {
  const Scale scale(Nanos{100}, Nanos{200}, 1000);
  EXPECT_EQ(scale.at(Nanos{100}), 0);
  EXPECT_EQ(scale.at(Nanos{150}), 500);
  EXPECT_EQ(scale.at(Nanos{200}), 1000);
}

TEST(Scale, MayBeginAnywhere) {
  const Scale scale(Nanos{100}, Nanos{200}, 1000, 70);
  EXPECT_EQ(scale.at(Nanos{100}), 70);
  EXPECT_EQ(scale.at(Nanos{200}), 1070);
  EXPECT_EQ(scale.right(), 1070);
}

TEST(Scale, TakesTheLongestTimes) {
  const Scale scale(Nanos{0}, Nanos::max(), 32000);
  EXPECT_EQ(scale.at(Nanos{0}), 0);
  EXPECT_EQ(scale.at(Nanos::max() / 2), 16000);
  EXPECT_EQ(scale.at(Nanos::max()), 32000);
}

TEST(BoxesOf, AreWhereTheEventsAre) {
  const std::vector<Event> events = {event_of(Forward{}, 0, 10), event_of(Backward{}, 15, 35)};
  const auto boxes = boxes_of(row_of_all(events), Scale(Nanos{0}, Nanos{100}, 1000));
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_EQ(boxes[0].left, 0);
  EXPECT_EQ(boxes[0].right, 100);
  EXPECT_EQ(boxes[0].look, Look::kForward);
  EXPECT_EQ(boxes[1].left, 150);
  EXPECT_EQ(boxes[1].right, 350);
  EXPECT_EQ(boxes[1].event, &events[1]);
}

TEST(BoxesOf, AreCutToTheWindow) {
  const std::vector<Event> events = {event_of(Forward{}, 0, 10), event_of(Forward{}, 10, 30),
                                     event_of(Forward{}, 30, 50), event_of(Forward{}, 50, 60)};
  const auto boxes = boxes_of(row_of_all(events), Scale(Nanos{20}, Nanos{40}, 200));
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_EQ(boxes[0].left, 0);
  EXPECT_EQ(boxes[1].right, 200);
}

TEST(BoxesOf, BeginWhereTheScaleBegins) {
  const std::vector<Event> events = {event_of(Forward{}, 0, 15), event_of(Forward{}, 15, 30)};
  const auto boxes = boxes_of(row_of_all(events), Scale(Nanos{10}, Nanos{20}, 200, 5000));
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_EQ(boxes[0].left, 5000);
  EXPECT_EQ(boxes[1].left, 5100);
  EXPECT_EQ(boxes[1].right, 5200);
}

TEST(BoxesOf, ShowTheRestOfWhatAnotherHides) {
  const std::vector<Event> events = {event_of(Forward{}, 0, 50), event_of(Forward{}, 10, 40),
                                     event_of(Forward{}, 20, 80)};
  const auto boxes = boxes_of(row_of_all(events), Scale(Nanos{0}, Nanos{100}, 1000));
  ASSERT_EQ(boxes.size(), 2U) << "the second is hidden";
  EXPECT_EQ(boxes[1].left, 500);
  EXPECT_EQ(boxes[1].right, 800);
  EXPECT_EQ(boxes[1].event, &events[2]);
}

// 10,000 pairs of a forward and a backward on 100 pixels. Half of the time is idle, and a backward
// takes twice as long as a forward.
TEST(BoxesOf, MergeWhatIsTooNarrow) {
  std::vector<Event> events;
  for (std::int64_t i = 0; i < 10'000; ++i) {
    events.push_back(event_of(Forward{}, i * 600, i * 600 + 100));
    events.push_back(event_of(Backward{}, i * 600 + 200, i * 600 + 400));
  }
  const auto boxes = boxes_of(row_of_all(events), Scale(Nanos{0}, Nanos{6'000'000}, 1000));
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(boxes[0].look, Look::kBackward) << "that takes most of the time";
  EXPECT_EQ(boxes[0].event, nullptr);
  EXPECT_EQ(boxes[0].busy_tenths(), 5);
  EXPECT_EQ(boxes[0].events, 20'000);
  EXPECT_EQ(boxes[0].start, Nanos{0});
  EXPECT_EQ(boxes[0].end, Nanos{9'999 * 600 + 400});
  EXPECT_EQ(boxes[0].busy, Nanos{10'000 * 300});
  EXPECT_EQ(boxes[0].left, 0);
  EXPECT_EQ(boxes[0].right, 1000);
}

TEST(BoxesOf, AreOddWhereAllOfTheirMinibatchesAre) {
  const auto odd = [](std::vector<std::int64_t> minibatches, Nanos::rep length) {
    std::vector<Event> events;
    for (std::size_t i = 0; i < minibatches.size(); ++i)
      events.push_back(event_of(Forward{.item = {minibatches[i], 0}},
                                static_cast<std::int64_t>(i) * length,
                                static_cast<std::int64_t>(i + 1) * length));
    std::vector<bool> are_odd;
    for (const Box& box : boxes_of(row_of_all(events), Scale(Nanos{0}, Nanos{1000}, 1000)))
      are_odd.push_back(box.odd);
    return are_odd;
  };
  EXPECT_EQ(odd({2, 3}, 100), (std::vector<bool>{false, true}));
  EXPECT_EQ(odd({3, 3, 5}, 3), (std::vector<bool>{true})) << "merged";
  EXPECT_EQ(odd({3, 4, 5}, 3), (std::vector<bool>{false}));
}

TEST(BoxesOf, OneNarrowEventIsStillSeen) {
  const std::vector<Event> events = {event_of(Forward{}, 500, 501)};
  const auto boxes = boxes_of(row_of_all(events), Scale(Nanos{0}, Nanos{1'000'000}, 1000));
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(boxes[0].event, &events[0]);
  EXPECT_EQ(boxes[0].right - boxes[0].left, 1);
}

TEST(BoxesOf, NeverOverlapAndNeverEmpty) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::int64_t span = 1 + static_cast<std::int64_t>(random() % 100'000);
    const std::int64_t longest = 1 + static_cast<std::int64_t>(random() % 3000);
    std::vector<Event> events;
    for (auto i = random() % 400; i > 0; --i) {
      const auto start = static_cast<std::int64_t>(random()) % span;
      events.push_back(
          event_of(Forward{}, start, start + static_cast<std::int64_t>(random()) % longest));
    }
    Tenths edge = 0;
    for (const Box& box : boxes_of(row_of_all(events), Scale(Nanos{0}, Nanos{span}, 6400))) {
      EXPECT_GE(box.left, edge);
      EXPECT_GT(box.right, box.left);
      EXPECT_TRUE(0 <= box.busy_tenths() && box.busy_tenths() <= 10);
      edge = box.right;
    }
    EXPECT_LE(edge, 6401) << "one of no width at the right edge";
  }
}

TEST(MarksOf, AreForWhatTakesNoTime) {
  const std::vector<Event> events = {event_of(Forward{}, 0, 10), event_of(Update{}, 10, 10),
                                     event_of(schedule::Await{}, 50, 50),
                                     event_of(Update{}, 60, 60), event_of(Update{}, 60, 60)};
  const auto marks = marks_of(row_of_all(events), Scale(Nanos{0}, Nanos{100}, 1000));
  ASSERT_EQ(marks.size(), 2U) << "a wait that took no time is not worth one";
  EXPECT_EQ(marks[0].at, 100);
  EXPECT_EQ(marks[1].events.size(), 2U) << "at the same place";
}

TEST(AreCrowded, SaysWhetherMarksWouldHideTheBoxes) {
  std::vector<Event> events;
  for (std::int64_t i = 0; i < 50; ++i) events.push_back(event_of(Update{}, i * 2, i * 2));
  const auto crowded = [&](Tenths width) {
    return are_crowded(marks_of(row_of_all(events), Scale(Nanos{0}, Nanos{100}, width)));
  };
  EXPECT_TRUE(crowded(1000));
  EXPECT_FALSE(crowded(10'000));
  events.resize(4);
  EXPECT_FALSE(crowded(1000)) << "so few never are";
}

}  // namespace
}  // namespace pipedream::report
