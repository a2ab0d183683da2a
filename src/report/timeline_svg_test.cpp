#include "report/timeline_svg.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "report/svg_testing.h"

namespace pipedream::report {
namespace {

using schedule::Backward;
using schedule::Forward;
using schedule::Item;
using schedule::Kind;
using schedule::Part;
using schedule::Recv;
using schedule::Send;
using schedule::Update;
using timeline::Event;
using timeline::Timeline;

constexpr std::int64_t kMs = 1'000'000;

// Returns a timeline in which every worker begins each minibatch 10 ms after the worker before it,
// runs its backward right after its forward, and sends to the next worker.
Timeline staircase(int workers, int minibatches) {
  Timeline timeline;
  for (std::int32_t w = 0; w < workers; ++w)
    for (std::int64_t m = 0; m < minibatches; ++m) {
      const Nanos start{(w + 3 * m) * 10 * kMs};
      const Nanos middle = start + Nanos{10 * kMs};
      const Nanos end = start + Nanos{30 * kMs};
      const auto add = [&](schedule::Op op, Nanos from, Nanos to) {
        timeline.events.push_back({WorkerId{w}, op, from, to});
      };
      add(Forward{StageId{w}, {m, 0}, {m}}, start, middle);
      add(Backward{StageId{w}, {m, 0}, {m}}, middle, end);
      add(Update{StageId{w}, {m}, {m + 1}, m, m}, end, end);
      add(Send{{w}, {w + 1}, {m, 0}, Kind::kActivation, {w + 1}}, middle, end);
    }
  return timeline;
}

Timeline one_event(schedule::Op op, Nanos start, Nanos end) {
  return {{{WorkerId{0}, op, start, end}}};
}

std::vector<Element> elements_of(const Timeline& timeline, const SvgOptions& options = {}) {
  return XmlReader::read(timeline_svg(timeline, options));
}

// Returns the boxes of compute and communication. The boxes of the legend have no titles and are
// left out.
std::vector<Element> boxes_in(const std::vector<Element>& elements) {
  std::vector<Element> boxes;
  for (const Element& element : elements)
    if (element.name == "rect" && !element.title.empty()) boxes.push_back(element);
  return boxes;
}

std::multiset<std::string> texts_in(const std::vector<Element>& elements) {
  std::multiset<std::string> texts;
  for (const Element& element : elements)
    if (element.name == "text") texts.insert(element.text);
  return texts;
}

TEST(TimelineSvg, EveryComputeEventAppears) {
  const Timeline timeline = staircase(4, 12);
  std::string titles;
  for (const Element& box : boxes_in(elements_of(timeline))) titles += "\n" + box.title + "\n";
  for (const Event& event : timeline.events)
    EXPECT_NE(titles.find("\n" + to_text(event.op, true) + " at "), std::string::npos)
        << to_text(event.op, true);
}

TEST(TimelineSvg, EveryBoxOfTwelveMinibatchesHasItsNumber) {
  const auto texts = texts_in(elements_of(staircase(4, 12)));
  for (int minibatch = 0; minibatch < 12; ++minibatch)
    EXPECT_GE(texts.count(std::to_string(minibatch)), 3U * 4U)
        << "forward, backward and send on four workers: " << minibatch;
}

TEST(TimelineSvg, BoxesOfALaneDoNotOverlap) {
  std::map<double, std::vector<Element>> by_row;
  for (const Element& box : boxes_in(elements_of(staircase(16, 30))))
    if (box.css() != "u") by_row[box.number("y")].push_back(box);
  ASSERT_EQ(by_row.size(), 32U) << "compute and sends of 16 workers";
  for (auto& [y, row] : by_row) {
    std::sort(row.begin(), row.end(),
              [](const Element& a, const Element& b) { return a.number("x") < b.number("x"); });
    for (std::size_t i = 1; i < row.size(); ++i)
      EXPECT_LE(row[i - 1].number("x") + row[i - 1].number("width"), row[i].number("x") + 1e-6);
  }
}

TEST(TimelineSvg, EverythingLiesWithinThePage) {
  for (const auto& [workers, minibatches] : {std::pair{1, 1}, {4, 12}, {16, 100}, {100, 3}}) {
    const auto elements =
        elements_of(staircase(workers, minibatches), {.title = "title", .subtitle = "subtitle"});
    const double width = elements.front().number("width");
    const double height = elements.front().number("height");
    for (const Element& element : elements) {
      if (element.name != "rect" && element.name != "text") continue;
      const bool is_box = element.name == "rect";
      EXPECT_GE(element.number("x"), 0);
      EXPECT_GE(element.number("y"), 0);
      EXPECT_LE(element.number("x") + (is_box ? element.number("width") : 0), width);
      EXPECT_LE(element.number("y") + (is_box ? element.number("height") : 0), height);
    }
  }
}

TEST(TimelineSvg, EveryWorkerHasItsLabelAndStages) {
  Timeline timeline = staircase(2, 1);
  timeline.events.push_back(
      {WorkerId{1}, Forward{StageId{3}, {0, 0}, {0}}, Nanos{40 * kMs}, Nanos{50 * kMs}});
  const auto texts = texts_in(elements_of(timeline));
  for (const char* label : {"worker 0", "stage 0", "worker 1", "stages 1, 3"})
    EXPECT_EQ(texts.count(label), 1U) << label;
}

TEST(TimelineSvg, StagesOfOneWorkerAreToldApartByBands) {
  const auto bands = [](const Timeline& timeline) {
    std::set<double> heights;
    for (const Element& element : elements_of(timeline))
      if (element.css() == "band") heights.insert(element.number("y"));
    return heights.size();
  };
  EXPECT_EQ(bands(staircase(2, 3)), 0U);
  Timeline timeline;
  for (std::int32_t s = 0; s < 3; ++s)
    timeline.events.push_back(
        {WorkerId{0}, Forward{StageId{s}, {0, 0}, {0}}, Nanos{s * kMs}, Nanos{(s + 1) * kMs}});
  EXPECT_EQ(bands(timeline), 4U) << "three heights, and the legend";
}

TEST(TimelineSvg, MicrobatchesGiveTheNumbersAndMinibatchesTheShades) {
  Timeline timeline;
  for (std::int32_t i = 0; i < 4; ++i)
    timeline.events.push_back({WorkerId{0}, Forward{StageId{0}, Item{7 + i / 2, i % 2}, {0}},
                               Nanos{i * kMs}, Nanos{(i + 1) * kMs}});
  const auto elements = elements_of(timeline);
  const auto boxes = boxes_in(elements);
  ASSERT_EQ(boxes.size(), 4U);
  EXPECT_EQ(boxes[0].css(), "fo");
  EXPECT_EQ(boxes[1].css(), "fo");
  EXPECT_EQ(boxes[2].css(), "f");
  EXPECT_EQ(boxes[3].css(), "f");
  EXPECT_EQ(texts_in(elements).count("7"), 0U);
  EXPECT_EQ(texts_in(elements).count("numbers: microbatches; shades: minibatches in turn"), 1U);
}

TEST(TimelineSvg, EveryKindLooksDifferentAndIsInTheLegend) {
  const std::vector<std::pair<schedule::Op, std::string>> kinds = {
      {Forward{}, "forward"},
      {Backward{}, "backward"},
      {Backward{.part = Part::kInput}, "backward: input gradient"},
      {Backward{.part = Part::kWeight}, "backward: weight gradient"},
      {schedule::Recompute{}, "recomputation"},
      {schedule::Await{}, "wait for weights"},
      {Update{}, "update"},
      {schedule::Pull{}, "weights fetched"},
      {Send{}, "send"},
      {Recv{}, "receive"},
      {schedule::Reduce{}, "averaging"},
      {schedule::Push{}, "push"},
      {schedule::Load{}, "loading"}};
  std::set<std::string> classes;
  for (const auto& [op, label] : kinds) {
    const auto elements = elements_of(one_event(op, Nanos{0}, Nanos{kMs}));
    EXPECT_EQ(texts_in(elements).count(label), 1U) << label;
    ASSERT_EQ(boxes_in(elements).size(), 1U) << label;
    classes.insert(boxes_in(elements).front().css());
  }
  EXPECT_EQ(classes.size(), kinds.size());
}

TEST(TimelineSvg, TextIsEscaped) {
  const std::string title = "a<b> & \"c\" 'd'";
  const auto texts = texts_in(elements_of(staircase(1, 1), {.title = title, .subtitle = title}));
  EXPECT_EQ(texts.count(title), 2U);
  EXPECT_NO_THROW((void)elements_of(staircase(1, 1), {.title = "\x01\xFF</svg>"}));
}

TEST(TimelineSvg, LongSubtitlesAreWrapped) {
  std::string subtitle;
  for (int i = 0; i < 60; ++i) subtitle += "word" + std::to_string(i) + " ";
  const auto texts = texts_in(elements_of(staircase(1, 1), {.subtitle = subtitle}));
  const auto lines = std::count_if(texts.begin(), texts.end(), [](const std::string& text) {
    return text.starts_with("word") && text.size() > 7;
  });
  EXPECT_GT(lines, 2);
}

TEST(TimelineSvg, AnEmptyTimelineIsAnEmptyPicture) {
  const auto elements = elements_of({}, {.title = "nothing"});
  EXPECT_EQ(boxes_in(elements).size(), 0U);
  EXPECT_EQ(texts_in(elements).count("nothing"), 1U);
}

TEST(TimelineSvg, OneEventFillsTheChart) {
  const auto boxes =
      boxes_in(elements_of(one_event(Forward{{0}, {3, 0}, {1}}, Nanos{0}, Nanos{5 * kMs})));
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(boxes[0].title, "0:F3@1 at 0 ns, takes 5 ms");
  EXPECT_GT(boxes[0].number("width"), 600);
}

TEST(TimelineSvg, OneEventThatTakesNoTimeIsAMark) {
  const auto boxes = boxes_in(elements_of(one_event(Update{{0}, {3}, {4}, 3, 3}, {}, {})));
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(boxes[0].title, "0:U3>4 at 0 ns");
}

TEST(TimelineSvg, TakesTheLongestTimes) {
  Timeline timeline = one_event(Forward{}, Nanos{0}, Nanos::max() / 2);
  timeline.events.push_back({WorkerId{0}, Backward{}, Nanos::max() / 2, Nanos::max()});
  const auto boxes = boxes_in(elements_of(timeline));
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_NEAR(boxes[0].number("width"), boxes[1].number("width"), 1);
}

TEST(TimelineSvg, AWindowShowsItsPart) {
  const Timeline timeline = staircase(1, 4);
  const auto boxes =
      boxes_in(elements_of(timeline, {.from = Nanos{35 * kMs}, .to = Nanos{60 * kMs}}));
  std::vector<std::string> titles;
  for (const Element& box : boxes)
    if (box.css() != "s") titles.push_back(box.title.substr(0, box.title.find(" at")));
  EXPECT_EQ(titles, (std::vector<std::string>{"0:F1@1", "0:B1@1", "0:U1>2"}));
}

TEST(TimelineSvg, AWindowWithoutWidthIsANanosecond) {
  EXPECT_NO_THROW((void)elements_of(staircase(1, 1), {.from = Nanos{5}, .to = Nanos{2}}));
  EXPECT_NO_THROW((void)elements_of(staircase(1, 1), {.from = Nanos{-5}, .to = Nanos{-2}}));
  EXPECT_NO_THROW((void)elements_of(staircase(1, 1), {.from = Nanos::max()}));
}

TEST(TimelineSvg, ALongRunGivesNoLargePicture) {
  const std::string svg = timeline_svg(staircase(4, 20'000), {});
  EXPECT_LT(svg.size(), 100'000U);
  EXPECT_NO_THROW((void)XmlReader::read(svg));
}

TEST(TimelineSvg, VeryManyBoxesHaveNoTooltips) {
  EXPECT_FALSE(boxes_in(elements_of(staircase(16, 40))).empty());
  EXPECT_TRUE(boxes_in(elements_of(staircase(16, 60))).empty());
}

}  // namespace
}  // namespace pipedream::report
