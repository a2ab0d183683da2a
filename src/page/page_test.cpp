#include "page/page.h"

#include <gtest/gtest.h>

namespace pipedream::page {
namespace {

// The JSON in a page.
nlohmann::ordered_json data_in(const std::string& page) {
  const std::string begin = "<script id=\"data\" type=\"application/json\">";
  const std::size_t first = page.find(begin) + begin.size();
  return nlohmann::ordered_json::parse(page.substr(first, page.find("</script>", first) - first));
}

TEST(Page, HasItsDataStyleAndScripts) {
  const std::string page = html("two runs", {{.name = "a"}, {.name = "b", .is_measured = true}});
  EXPECT_TRUE(page.starts_with("<!doctype html>\n"));
  EXPECT_NE(page.find("<title>two runs</title>"), std::string::npos);
  EXPECT_NE(page.find("class Timeline"), std::string::npos);
  EXPECT_NE(page.find("color-scheme"), std::string::npos);
  const auto data = data_in(page);
  EXPECT_EQ(data.at("title"), "two runs");
  EXPECT_EQ(data.at("runs").size(), 2u);
  EXPECT_EQ(data.at("runs").at(1).at("kind"), "measured");
}

TEST(Page, NeedsNothingElse) {
  const std::string page = html("it", {{.name = "a"}});
  for (const char* other : {"src=", "href=", "@import", "url(", "fetch(", "import("})
    EXPECT_EQ(page.find(other), std::string::npos) << other;
}

// Names come from users, and files from anywhere.
TEST(Page, NoNameEndsTheScriptThatItIsIn) {
  const std::string evil = "</script><script>alert(1)</script><!--\xff";
  const std::string page = html(evil, {{.name = evil}});
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_EQ(data_in(page).at("runs").at(0).at("name"),
            "</script><script>alert(1)</script><!--\xef\xbf\xbd");
}

TEST(Page, ThatIsLiveMayAskItsServerAlone) {
  const std::string live = html("it", {{.name = "a"}}, "this one");
  EXPECT_NE(live.find("connect-src 'self'"), std::string::npos);
  EXPECT_EQ(data_in(live).at("training"), "this one");
  const std::string file = html("it", {{.name = "a"}});
  EXPECT_EQ(file.find("connect-src"), std::string::npos);
  EXPECT_EQ(data_in(file).at("training"), "");
}

TEST(News, AreOneLine) {
  News news{.training = "this one", .share = 0.5, .words = "a\nb</script>"};
  news.result["loss"] = 1.5;
  const std::string line = to_line(news);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json.at("training"), "this one");
  EXPECT_EQ(json.at("words"), news.words);
  EXPECT_EQ(json.at("result").at("loss"), 1.5);
  EXPECT_FALSE(json.at("last"));
}

TEST(Page, LeavesOutWhatIsNotKnown) {
  const auto run = data_in(html("it", {{.name = "a"}})).at("runs").at(0);
  for (const char* key : {"plan", "cluster", "links", "accounts", "others", "curves", "timelines"})
    EXPECT_FALSE(run.contains(key)) << key;
}

// conv ─▶ fc ─▶ loss on two stages: the labels are read from the data set and cross no cut.
TEST(PlanJson, HasWhatPassesBetweenStages) {
  graph::Builder builder;
  builder.add_input("data", {{"image", {}, Bytes{100}}, {"label", {}, Bytes{4}}});
  builder.add_layer("conv", "Conv2d", {{"out", {}, Bytes{2048}}});
  builder.add_layer("fc", "Linear", {{"out", {}, Bytes{8}}});
  builder.add_layer("loss", "CrossEntropy", {});
  builder.add_edge("data", "image", "conv");
  builder.add_edge("conv", "", "fc");
  builder.add_edge("fc", "", "loss");
  builder.add_edge("data", "label", "loss");
  profile::Profile profile{.model = "tiny", .graph = std::move(builder).build()};
  profile.costs.resize(4);
  profile.costs[1] = {
      .forward = Nanos(1'000'000), .backward = Nanos(2'000'000), .weights = Bytes{64}};
  const plan::Plan plan{.stages = {{.layers = {LayerId{1}}, .workers = {{0}, {1}}},
                                   {.layers = {LayerId{2}, LayerId{3}}, .workers = {{2}}}},
                        .system = "pipedream"};
  const auto json = plan_json(plan, profile);
  EXPECT_EQ(json.at("config"), "2-1");
  EXPECT_EQ(json.at("transfers").dump(), R"([{"from":0,"to":1,"bytes":2048}])");
  EXPECT_EQ(json.at("stages").at(0).at("seconds"), 0.003);
  EXPECT_EQ(json.at("stages").at(0).at("weight_bytes"), 64);
  EXPECT_EQ(json.at("stages").at(0).at("layers").dump(), R"(["conv"])");
  EXPECT_EQ(json.at("stages").at(0).at("workers").dump(), "[0,1]");
}

TEST(RunJson, SeparatesRecomputationFromOtherWork) {
  page::Run run{.name = "a"};
  run.result["workers"] = {
      {{"worker", 3},
       {"busy", 5.0},
       {"recompute", 1.5},
       {"idle", {{"fill_drain", 0.5}, {"imbalance", 0.25}, {"transfer", 0.125}, {"wait", 0.0}}}}};
  const auto account = to_json(run).at("accounts").at(0);
  EXPECT_EQ(account.at("busy"), 3.5);
  EXPECT_EQ(account.at("recompute"), 1.5);
  EXPECT_EQ(account.at("fill_drain"), 0.5);
  EXPECT_EQ(account.at("worker"), 3);
}

}  // namespace
}  // namespace pipedream::page
