#include "page/columns.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pipedream::page {
namespace {

using schedule::Backward;
using schedule::Forward;
using schedule::Update;

TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return base64(text);
}

TEST(Column, HasDifferencesInSevenBitsEach) {
  EXPECT_EQ(column({}), "");
  EXPECT_EQ(column({0, 1, 0, 3}), bytes({0, 2, 1, 6}));
  EXPECT_EQ(column({63, 127}), bytes({126, 0x80, 1}));
  EXPECT_EQ(column({-64, -64}), bytes({127, 0}));
  EXPECT_EQ(column({std::int64_t{1} << 40}), bytes({0x80, 0x80, 0x80, 0x80, 0x80, 0x40}));
}

TEST(TimelineColumns, HaveTheComputeLanesByWorkerAndTime) {
  const timeline::Timeline timeline{
      {{{1}, Forward{{1}, {4, 2}, {3}}, Nanos{50}, Nanos{70}, Nanos{7}, Nanos{9}},
       {{0}, schedule::Load{{0}, {4, 0}}, Nanos{0}, Nanos{10}},
       {{0}, Backward{{0}, {4, 0}, {2}}, Nanos{30}, Nanos{40}},
       {{0}, Forward{{0}, {4, 0}, {2}}, Nanos{10}, Nanos{20}},
       {{0}, Update{{0}, {2}, {3}, 4, 5}, Nanos{40}, Nanos{41}}}};
  const auto json = timeline_columns(timeline, "measured");
  EXPECT_EQ(json.at("name"), "measured");
  EXPECT_EQ(json.at("seconds"), 70e-9);
  EXPECT_EQ(json.at("worker"), column({0, 0, 0, 1}));
  EXPECT_EQ(json.at("kind"), column({0, 1, 5, 0}));
  EXPECT_EQ(json.at("stage"), column({0, 0, 0, 1}));
  EXPECT_EQ(json.at("minibatch"), column({4, 4, 5, 4}));
  EXPECT_EQ(json.at("microbatch"), column({0, 0, 0, 2}));
  EXPECT_EQ(json.at("weights"), column({2, 2, 3, 3}));
  EXPECT_EQ(json.at("start"), column({10, 30, 40, 50}));
  EXPECT_EQ(json.at("length"), column({10, 10, 1, 20}));
  EXPECT_EQ(json.at("transfer"), column({0, 0, 0, 7}));
  EXPECT_EQ(json.at("wait"), column({0, 0, 0, 9}));
}

TEST(MemoryColumns, HaveTheWorkersWhoseMemoryIsKnown) {
  timeline::Timeline timeline{{{{1}, Forward{{1}, {0, 0}, {0}}, Nanos{0}, Nanos{5}},
                               {{0}, Forward{{0}, {0, 0}, {0}}, Nanos{0}, Nanos{10}},
                               {{0}, Backward{{0}, {0, 0}, {0}}, Nanos{10}, Nanos{30}}}};
  EXPECT_TRUE(memory_columns(timeline).empty());
  timeline.events[1].memory = {4096};
  timeline.events[2].memory = {1024};
  const auto json = memory_columns(timeline);
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0].at("worker"), 0);
  EXPECT_EQ(json[0].at("time"), column({10, 30}));
  EXPECT_EQ(json[0].at("bytes"), column({4096, 1024}));
}

}  // namespace
}  // namespace pipedream::page
