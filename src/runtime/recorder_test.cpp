#include "runtime/recorder.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace pipedream::runtime {
namespace {

schedule::Forward forward(std::int64_t minibatch) { return {{1}, {minibatch, 0}, {0}}; }
const schedule::Load kLoad{{1}, {0, 0}};

TEST(Recorder, RemembersTheLastHundredOpsThatBegan) {
  Recorder recorder({0}, Clock{}, false);
  for (std::int64_t i = 0; i < 250; ++i) recorder.enter(forward(i));
  const std::string text = recorder.recent();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 100);
  EXPECT_TRUE(text.starts_with("# when, and op: 2:F9.1@3 is ")) << text.substr(0, 80);
  EXPECT_EQ(text.find("1:F149@"), std::string::npos);
  EXPECT_LT(text.find("1:F150@0\n"), text.find("1:F151@0\n"));
  EXPECT_TRUE(text.ends_with("1:F249@0\n")) << text.substr(text.size() - 40);
}

TEST(Recorder, RemembersFewerWhereThereWereFewer) {
  Recorder recorder({0}, Clock{}, false);
  EXPECT_EQ(recorder.recent(), "");
  recorder.enter(forward(7));
  recorder.enter(kLoad);
  const std::string text = recorder.recent();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2);
  EXPECT_TRUE(text.ends_with("1:L0\n")) << text;
}

TEST(Recorder, KeepsLoadsAndTransfersOnlyForPictures) {
  for (const bool everything : {false, true}) {
    Recorder recorder({3}, Clock{}, everything);
    recorder.add(kLoad, Nanos{1}, Nanos{2});
    recorder.add(forward(0), Nanos{2}, Nanos{5}, Nanos{1}, Nanos{0});
    ASSERT_EQ(recorder.events().size(), everything ? 2u : 1u);
    EXPECT_EQ(recorder.events().back(),
              (timeline::Event{{3}, forward(0), Nanos{2}, Nanos{5}, Nanos{1}, Nanos{0}}));
  }
}

TEST(Recorder, ASegmentThatIsNotRecordedLeavesTheEventsOfTheLastOne) {
  Recorder recorder({0}, Clock{}, true);
  recorder.add(forward(0), Nanos{1}, Nanos{2});
  recorder.begin(/*records=*/false);
  recorder.add(forward(1), Nanos{3}, Nanos{4});
  EXPECT_EQ(recorder.events().size(), 1u);
  recorder.begin(/*records=*/true);
  EXPECT_TRUE(recorder.events().empty());
}

TEST(Recorder, NotesTheMemoryAfterEachOpOfCompute) {
  std::int64_t held = 100;
  Recorder recorder({0}, Clock{}, true, at::kCPU, [&] { return Bytes{held++}; });
  recorder.add(kLoad, Nanos{1}, Nanos{2});
  recorder.add_compute(forward(0), recorder.moment(), Nanos{0}, Nanos{0});
  recorder.add_compute(forward(1), recorder.moment(), Nanos{0}, Nanos{0});
  ASSERT_EQ(recorder.events().size(), 3u);
  EXPECT_EQ(recorder.events()[0].memory, Bytes{0});
  EXPECT_EQ(recorder.events()[1].memory, Bytes{100});
  EXPECT_EQ(recorder.events()[2].memory, Bytes{101});
}

}  // namespace
}  // namespace pipedream::runtime
