#include "report/timeline_svg.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "report/svg_testing.h"
#include "report/timeline_words.h"

namespace pipedream::report {
namespace {

using schedule::Backward;
using schedule::BackwardPart;
using schedule::Forward;
using schedule::Item;
using schedule::Kind;
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

// Returns a timeline of loads that are too narrow to be told apart and take half of the time.
Timeline narrow_loads() {
  Timeline timeline;
  for (std::int64_t i = 0; i < 20'000; ++i)
    timeline.events.push_back(
        {WorkerId{0}, schedule::Load{{0}, {i, 0}}, Nanos{i * 10}, Nanos{i * 10 + 5}});
  return timeline;
}

Timeline one_event(schedule::Op op, Nanos start, Nanos end) {
  return {{{WorkerId{0}, op, start, end}}};
}

std::vector<Element> elements_of(const Timeline& timeline, const SvgOptions& options = {}) {
  return XmlReader::read(timeline_svg(timeline, options));
}

// Returns the boxes and marks of compute and communication, without the idle gaps. The boxes of the
// legend have no titles and are left out.
std::vector<Element> boxes_in(const std::vector<Element>& elements) {
  std::vector<Element> boxes;
  for (const Element& element : elements)
    if (element.name == "rect" && !element.title.empty() && element.css() != "idle")
      boxes.push_back(element);
  return boxes;
}

// Returns what the boxes are about: the beginnings of their titles, without the times.
std::vector<std::string> words_in(const std::vector<Element>& boxes) {
  std::vector<std::string> words;
  for (const Element& box : boxes) words.push_back(box.title.substr(0, box.title.find(": ")));
  return words;
}

std::vector<std::string> idle_titles_in(const std::vector<Element>& elements) {
  std::vector<std::string> titles;
  for (const Element& element : elements)
    if (element.css() == "idle" && !element.title.empty()) titles.push_back(element.title);
  return titles;
}

// Returns the labels of the legend.
std::set<std::string> legend_in(const std::vector<Element>& elements) {
  std::set<std::string> labels;
  for (const Element& element : elements)
    if (element.name == "text" && element.group == "legend") labels.insert(element.text);
  return labels;
}

// Returns the headings of the stretches.
std::vector<std::string> headings_in(const std::vector<Element>& elements) {
  std::vector<std::string> headings;
  for (const Element& element : elements)
    if (element.css() == "t11 h") headings.push_back(element.text);
  return headings;
}

std::multiset<std::string> texts_in(const std::vector<Element>& elements) {
  std::multiset<std::string> texts;
  for (const Element& element : elements)
    if (element.name == "text") texts.insert(element.text);
  return texts;
}

TEST(TimelineSvg, EveryEventAppears) {
  const Timeline timeline = staircase(4, 12);
  const auto words = words_in(boxes_in(elements_of(timeline)));
  for (const Event& event : timeline.events)
    EXPECT_EQ(std::count(words.begin(), words.end(), words_of(event.op, false)), 1)
        << words_of(event.op, false);
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

// Returns a timeline of one worker with two microbatches for each of the minibatches `first` …
// `last`.
Timeline cut_minibatches(std::int64_t first, std::int64_t last) {
  Timeline timeline;
  for (std::int64_t i = 0; i < 2 * (last - first + 1); ++i) {
    const Item item{first + i / 2, static_cast<std::int32_t>(i % 2)};
    timeline.events.push_back(
        {WorkerId{0}, Forward{{0}, item, {0}}, Nanos{i * kMs}, Nanos{(i + 1) * kMs}});
    timeline.events.push_back({WorkerId{0}, Send{{0}, {1}, item, Kind::kActivation, {1}},
                               Nanos{i * kMs}, Nanos{(i + 1) * kMs}});
  }
  return timeline;
}

TEST(TimelineSvg, MicrobatchesGiveTheNumbersAndOddMinibatchesArePale) {
  const auto elements = elements_of(cut_minibatches(7, 8));
  std::vector<std::string> classes;
  for (const Element& box : boxes_in(elements)) classes.push_back(box.css());
  EXPECT_EQ(classes, (std::vector<std::string>{"fo", "fo", "f", "f", "so", "so", "s", "s"}));
  EXPECT_EQ(texts_in(elements).count("7"), 0U);
  const auto legend = legend_in(elements);
  EXPECT_EQ(legend.count("numbers: microbatches"), 1U);
  EXPECT_EQ(legend.count("pale: minibatches 1, 3, 5, …"), 1U);
}

TEST(TimelineSvg, NothingElseIsPale) {
  const auto is_pale = [](const Timeline& timeline) {
    const auto elements = elements_of(timeline);
    const auto boxes = boxes_in(elements);
    const bool any = std::any_of(boxes.begin(), boxes.end(),
                                 [](const Element& box) { return box.css().ends_with("o"); });
    EXPECT_EQ(legend_in(elements).count("pale: minibatches 1, 3, 5, …"), any ? 1U : 0U);
    for (const Element& element : elements)
      for (const char* paleness : {"opacity", "fill-opacity"})
        EXPECT_EQ(element.attributes.count(paleness), 0U);
    return any;
  };
  EXPECT_FALSE(is_pale(staircase(4, 12))) << "minibatches are not cut";
  EXPECT_FALSE(is_pale(narrow_loads())) << "merged boxes";
  EXPECT_FALSE(is_pale(cut_minibatches(8, 8)));
  EXPECT_TRUE(is_pale(cut_minibatches(7, 7)));
}

const std::vector<std::pair<schedule::Op, std::string>>& all_kinds() {
  static const std::vector<std::pair<schedule::Op, std::string>> kKinds = {
      {Forward{}, "forward"},
      {Backward{}, "backward"},
      {Backward{.part = BackwardPart::kInput}, "backward: input gradient"},
      {Backward{.part = BackwardPart::kWeight}, "backward: weight gradient"},
      {schedule::Recompute{}, "recomputation"},
      {schedule::Await{}, "wait for weights"},
      {Update{}, "update"},
      {schedule::Pull{}, "weights fetched"},
      {Send{}, "send"},
      {Recv{}, "receive"},
      {schedule::Reduce{}, "averaging"},
      {schedule::Push{}, "push"},
      {schedule::Load{}, "loading"}};
  return kKinds;
}

TEST(TimelineSvg, EveryKindLooksDifferentAndIsInTheLegend) {
  std::set<std::string> classes;
  for (const auto& [op, label] : all_kinds()) {
    const auto elements = elements_of(one_event(op, Nanos{0}, Nanos{kMs}));
    EXPECT_EQ(legend_in(elements).count(label), 1U) << label;
    ASSERT_EQ(boxes_in(elements).size(), 1U) << label;
    classes.insert(boxes_in(elements).front().css());
  }
  EXPECT_EQ(classes.size(), all_kinds().size());
}

TEST(TimelineSvg, TheLegendHasWhatOccursAndNothingElse) {
  EXPECT_EQ(legend_in(elements_of(one_event(Forward{}, Nanos{0}, Nanos{kMs}))),
            (std::set<std::string>{"forward", "numbers: minibatches"}))
      << "the worker is never idle";
  EXPECT_EQ(legend_in(elements_of(one_event(schedule::Reduce{}, Nanos{0}, Nanos{kMs}))),
            (std::set<std::string>{"averaging", "idle"}));
  EXPECT_EQ(legend_in(elements_of(one_event(Update{}, Nanos{0}, Nanos{0}))),
            (std::set<std::string>{"update", "idle"}));
  EXPECT_EQ(legend_in(elements_of(staircase(2, 3))),
            (std::set<std::string>{"forward", "backward", "update", "send", "idle",
                                   "numbers: minibatches"}));
  EXPECT_EQ(legend_in(elements_of({})), std::set<std::string>{});
}

TEST(TimelineSvg, AMarkAndABoxOfOneKindAreBothInTheLegend) {
  Timeline timeline = one_event(Update{}, Nanos{0}, Nanos{kMs});
  timeline.events.push_back({WorkerId{0}, Update{}, Nanos{3 * kMs}, Nanos{3 * kMs}});
  const auto legend = legend_in(elements_of(timeline));
  EXPECT_EQ(legend, (std::set<std::string>{"update", "update that takes no time", "idle"}));
}

TEST(TimelineSvg, TheLegendHasTheColoursOfTheChart) {
  std::vector<Timeline> timelines = {
      {}, narrow_loads(), cut_minibatches(7, 8), cut_minibatches(7, 7)};
  for (const auto& [op, label] : all_kinds())
    timelines.push_back(one_event(op, Nanos{0}, Nanos{kMs}));
  for (const auto& [workers, minibatches] : {std::pair{1, 1}, {4, 12}, {8, 336}, {70, 400}})
    timelines.push_back(staircase(workers, minibatches));
  for (const Timeline& timeline : timelines) {
    const auto elements = elements_of(timeline);
    std::set<std::string> chart = classes_in(elements, false);
    // The background of lanes is there even if boxes cover all of it.
    if (legend_in(elements).count("idle") == 0) chart.erase("idle");
    EXPECT_EQ(chart, classes_in(elements, true));
  }
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
  EXPECT_EQ(boxes[0].title,
            "forward of minibatch 3, stage 0, with weight version 1: 0 ms to 5 ms (5 ms)");
  EXPECT_GT(boxes[0].number("width"), 600);
}

TEST(TimelineSvg, OneEventThatTakesNoTimeIsAMark) {
  const auto boxes = boxes_in(elements_of(one_event(Update{{0}, {3}, {4}, 3, 3}, {}, {})));
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(
      boxes[0].title,
      "update of stage 0 from weight version 3 to 4, with the gradients of minibatch 3: 0 ns");
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
  std::vector<std::string> words;
  for (const std::string& each : words_in(boxes))
    if (!each.starts_with("send")) words.push_back(each.substr(0, each.find(',')));
  EXPECT_EQ(words, (std::vector<std::string>{"forward of minibatch 1", "backward of minibatch 1",
                                             "update of stage 0 from weight version 1 to 2"}));
}

TEST(TimelineSvg, AWindowWithoutWidthIsANanosecond) {
  EXPECT_NO_THROW((void)elements_of(staircase(1, 1), {.from = Nanos{5}, .to = Nanos{2}}));
  EXPECT_NO_THROW((void)elements_of(staircase(1, 1), {.from = Nanos{-5}, .to = Nanos{-2}}));
  EXPECT_NO_THROW((void)elements_of(staircase(1, 1), {.from = Nanos::max()}));
}

TEST(TimelineSvg, TimesMayBeInAUnitOfTheirOwn) {
  const Timeline timeline = one_event(Forward{{0}, {3, 0}, {1}}, Nanos{2000}, Nanos{3000});
  const auto elements = elements_of(timeline, {.unit = TimeUnit{Nanos{1000}, "unit", "units"}});
  const auto texts = texts_in(elements);
  EXPECT_EQ(texts.count("time, units"), 1U);
  for (const char* tick : {"0", "1", "2", "3"}) EXPECT_GE(texts.count(tick), 1U) << tick;
  ASSERT_EQ(boxes_in(elements).size(), 1U);
  EXPECT_EQ(boxes_in(elements)[0].title,
            "forward of minibatch 3, stage 0, with weight version 1: 2 units to 3 units (1 unit)");
  EXPECT_EQ(idle_titles_in(elements),
            (std::vector<std::string>{"idle waiting for another worker: 0 units to 2 units (2 "
                                      "units)"}));
}

TEST(TimelineSvg, IdleTimeSaysWhy) {
  EXPECT_EQ(idle_titles_in(elements_of(staircase(2, 1))),
            (std::vector<std::string>{"idle while the pipeline drains: 30 ms to 40 ms (10 ms)",
                                      "idle while the pipeline fills: 0 ms to 10 ms (10 ms)"}));
}

TEST(TimelineSvg, SeveralEventsInOneBoxAreCountedInItsTitle) {
  const auto elements = elements_of(narrow_loads());
  const auto boxes = boxes_in(elements);
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(boxes[0].title,
            "20,000 ops, most of the time loading: 0 µs to 199.995 µs (200 µs), busy 100 µs");
  EXPECT_EQ(boxes[0].number("height"), 4) << "half of the strip";
}

// The longest run that has to be readable on a screen.
TEST(TimelineSvg, ALongRunFitsAScreenAndHasReadableNumbers) {
  const auto elements = elements_of(staircase(8, 336));
  EXPECT_LE(elements.front().number("width"), 1600);
  const auto texts = texts_in(elements);
  for (const char* minibatch : {"0", "1", "334", "335"})
    EXPECT_GE(texts.count(minibatch), 8U) << minibatch;
  EXPECT_EQ(headings_in(elements),
            (std::vector<std::string>{"beginning: 0 ms to 222.5 ms", "middle: 4,920 ms to 5,205 ms",
                                      "end: 9,917.5 ms to 10,150 ms"}));
  EXPECT_EQ(legend_in(elements).count("time left out"), 1U);
  EXPECT_EQ(std::count_if(elements.begin(), elements.end(),
                          [](const Element& element) { return element.name == "polygon"; }),
            2)
      << "breaks";
}

TEST(TimelineSvg, AShortRunHasNoBreaks) {
  const auto elements = elements_of(staircase(4, 12));
  EXPECT_TRUE(headings_in(elements).empty());
  EXPECT_EQ(legend_in(elements).count("time left out"), 0U);
}

TEST(TimelineSvg, EveryStretchHasLabelsOfItsTimes) {
  const auto elements = elements_of(staircase(8, 336));
  std::vector<double> edges;  // left edges of the stretches, from the background of the first lane
  const double top = std::find_if(elements.begin(), elements.end(), [](const Element& element) {
                       return element.css() == "idle" && element.group != "legend";
                     })->number("y");
  for (const Element& element : elements)
    if (element.css() == "idle" && element.title.empty() && element.group != "legend" &&
        element.number("y") == top)
      edges.push_back(element.number("x"));
  ASSERT_EQ(edges.size(), 3U);
  std::vector<int> ticks(3);
  for (const Element& element : elements)
    if (element.css() == "grid")
      for (std::size_t i = 3; i-- > 0;)
        if (element.number("x") >= edges[i] - 1) {
          ++ticks[i];
          break;
        }
  for (const int count : ticks) EXPECT_GE(count, 2);
}

TEST(TimelineSvg, PicturesAreNeverWiderThanAsked) {
  for (const auto& [workers, minibatches] : {std::pair{1, 1}, {4, 12}, {4, 40}, {8, 336}, {40, 60}})
    for (const int widest : {800, 1600, 3000}) {
      const auto elements = elements_of(staircase(workers, minibatches), {.widest = widest});
      EXPECT_LE(elements.front().number("width"), widest) << workers << ", " << minibatches;
    }
}

TEST(TimelineSvg, ALongRunGivesNoLargePicture) {
  const std::string svg = timeline_svg(staircase(4, 20'000), {});
  EXPECT_LT(svg.size(), 100'000U);
  EXPECT_NO_THROW((void)XmlReader::read(svg));
}

TEST(TimelineSvg, VeryManyBoxesHaveNoTooltips) {
  const auto has_tooltips = [](const Timeline& timeline) {
    return timeline_svg(timeline, {}).find("<title>forward") != std::string::npos;
  };
  EXPECT_TRUE(has_tooltips(staircase(16, 40)));
  EXPECT_FALSE(has_tooltips(staircase(100, 400)));
}

}  // namespace
}  // namespace pipedream::report
