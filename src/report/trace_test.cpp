#include "report/trace.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace pipedream::report {
namespace {

using nlohmann::json;
using schedule::Backward;
using schedule::Forward;
using schedule::Kind;
using schedule::Recv;
using schedule::Send;
using schedule::Update;
using timeline::Timeline;

Timeline timeline_of(std::vector<timeline::Event> events) { return {std::move(events)}; }

json events_of(const Timeline& timeline, const TraceOptions& options = {}) {
  return json::parse(trace_json(timeline, options)).at("traceEvents");
}

std::vector<json> with_phase(const json& events, const std::string& phase) {
  std::vector<json> found;
  for (const json& event : events)
    if (event.at("ph") == phase) found.push_back(event);
  return found;
}

// Returns the names of worker 0's threads, in the order of display.
std::vector<std::string> thread_names(const json& events) {
  std::map<std::int64_t, std::string> by_thread;
  std::map<std::int64_t, std::int64_t> index;
  for (const json& event : with_phase(events, "M")) {
    if (event.at("pid") != 1) continue;
    if (event.at("name") == "thread_name") by_thread[event.at("tid")] = event["args"]["name"];
    if (event.at("name") == "thread_sort_index")
      index[event["args"]["sort_index"]] = event.at("tid");
  }
  std::vector<std::string> names;
  for (const auto& [place, thread] : index) names.push_back(by_thread.at(thread));
  return names;
}

TEST(TraceJson, IsEmptyForAnEmptyTimeline) {
  EXPECT_EQ(trace_json({}),
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"title\":\"\"},\"traceEvents\":[\n]}\n");
}

TEST(TraceJson, OneEventIsCompleteWithItsWorkerAndThread) {
  const auto events = events_of(
      timeline_of({{WorkerId{2}, Forward{{1}, {3, 2}, {4}}, Nanos{1'234'567}, Nanos{2'000'001}}}));
  EXPECT_EQ(events.dump(),
            R"([{"args":{"name":"worker 2"},"name":"process_name","ph":"M","pid":3,"tid":3},)"
            R"({"args":{"sort_index":3},"name":"process_sort_index","ph":"M","pid":3,"tid":3},)"
            R"({"args":{"name":"compute"},"name":"thread_name","ph":"M","pid":3,"tid":3},)"
            R"({"args":{"sort_index":0},"name":"thread_sort_index","ph":"M","pid":3,"tid":3},)"
            R"({"args":{"microbatch":2,"minibatch":3,"stage":1,"weights":4},"cat":"forward",)"
            R"("dur":765.434,"name":"F3.2@4","ph":"X","pid":3,"tid":3,"ts":1234.567}])");
}

TEST(TraceJson, TimesAreExactToTheNanosecond) {
  const std::string text =
      trace_json(timeline_of({{WorkerId{0}, Forward{}, Nanos{1}, Nanos{1'000'001}},
                              {WorkerId{0}, Backward{}, Nanos::max() - Nanos{7}, Nanos::max()}}));
  EXPECT_NE(text.find("\"ts\":0.001,\"dur\":1000.000"), std::string::npos) << text;
  EXPECT_NE(text.find("\"ts\":9223372036854775.800,\"dur\":0.007"), std::string::npos) << text;
}

TEST(TraceJson, KindsHaveThreadsOfTheirOwn) {
  const Nanos a{0}, b{10};
  const WorkerId w{0};
  EXPECT_EQ(thread_names(events_of(timeline_of({
                {w, schedule::Load{}, a, b},
                {w, schedule::Push{}, a, b},
                {w, schedule::Reduce{{4}, {1}}, a, b},
                {w, Recv{{0}, {1}, {}, Kind::kGradient, {2}}, a, b},
                {w, Send{{0}, {1}, {}, Kind::kActivation, {3}}, a, b},
                {w, Send{{0}, {1}, {}, Kind::kActivation, {2}}, a, b},
                {w, Update{}, b, b},
                {w, Forward{}, a, b},
            }))),
            (std::vector<std::string>{"compute", "send to worker 2", "send to worker 3",
                                      "receive from worker 2", "averaging of stage 4", "push",
                                      "loading"}));
}

// The receives overlap, as they do with latency and with several values.
TEST(TraceJson, EventsOfOneThreadNeverOverlap) {
  Timeline timeline;
  for (std::int64_t i = 0; i < 200; ++i) {
    const Nanos start{(i * 37) % 500};
    timeline.events.push_back({WorkerId{static_cast<std::int32_t>(i % 2)},
                               Recv{{0}, {1}, {i, 0}, Kind::kActivation, {2}}, start,
                               start + Nanos{i % 23}});
  }
  const json events = events_of(timeline);
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> by_thread;
  for (const json& event : with_phase(events, "X"))
    by_thread[{event.at("pid"), event.at("tid")}].emplace_back(
        event.at("ts"), event.at("ts").get<double>() + event.at("dur").get<double>());
  std::size_t count = 0;
  for (auto& [thread, spans] : by_thread) {
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i)
      EXPECT_GE(spans[i].first, spans[i - 1].second - 1e-9);
    count += spans.size();
  }
  EXPECT_EQ(count, 200U);
  EXPECT_EQ(thread_names(events).at(1), "receive from worker 2 (2)");
}

TEST(TraceJson, ThreadsAreNumberedOnce) {
  Timeline timeline;
  for (std::int32_t w = 0; w < 5; ++w) {
    timeline.events.push_back({WorkerId{w}, Forward{}, Nanos{0}, Nanos{1}});
    timeline.events.push_back({WorkerId{w}, schedule::Load{}, Nanos{0}, Nanos{1}});
  }
  std::set<int> threads;
  for (const json& event : with_phase(events_of(timeline), "X")) {
    EXPECT_TRUE(threads.insert(event.at("tid").get<int>()).second);
    EXPECT_GT(event.at("pid").get<int>(), 0) << "0 is the idle process to the viewers";
  }
}

TEST(TraceJson, TellsWhatATransferMoves) {
  const Timeline timeline = timeline_of(
      {{WorkerId{0}, Send{{5}, {1}, {3, 0}, Kind::kActivation, {1}}, Nanos{0}, Nanos{9}},
       {WorkerId{0}, Forward{}, Nanos{0}, Nanos{9}}});
  const auto bytes = [](const timeline::Event& event) -> std::optional<Bytes> {
    if (!std::holds_alternative<Send>(event.op)) return std::nullopt;
    return Bytes{1234};
  };
  const auto known = with_phase(events_of(timeline, {.bytes = bytes}), "X");
  EXPECT_EQ(known[0]["args"].dump(),
            R"({"bytes":1234,"microbatch":0,"minibatch":3,"peer":1,"user":1,"value":5})");
  EXPECT_FALSE(known[1]["args"].contains("bytes"));
  EXPECT_FALSE(with_phase(events_of(timeline), "X")[0]["args"].contains("bytes"));
}

TEST(TraceJson, TellsWhatAnUpdateApplies) {
  const auto events = with_phase(
      events_of(timeline_of({{WorkerId{0}, Update{{1}, {3}, {4}, 6, 7}, Nanos{9}, Nanos{9}}})),
      "X");
  EXPECT_EQ(events[0]["args"].dump(), R"({"first":6,"from":3,"last":7,"stage":1,"to":4})");
  EXPECT_EQ(events[0]["dur"], 0);
}

TEST(TraceJson, TheTitleIsEscaped) {
  const std::string title = "a \"b\" \\ \n </x> µ";
  EXPECT_EQ(json::parse(trace_json({}, {.title = title}))["otherData"]["title"], title);
  EXPECT_TRUE(json::accept(trace_json({}, {.title = "\xFF\x01"})));
}

TEST(TraceJson, TheComputeLanesCanBeReadBack) {
  using schedule::BackwardPart;
  const auto event = [](int worker, schedule::Op op, std::int64_t start) {
    return timeline::Event{{worker},         op,
                           Nanos{start},     Nanos{start + 1'234'567},
                           Nanos{start % 7}, Nanos{start % 5},
                           Bytes{start % 3}};
  };
  const std::vector<timeline::Event> compute{
      event(0, Forward{{1}, {3, 2}, {4}}, 0),
      event(1, Backward{{0}, {3, 0}, {4}}, 10'000'001),
      event(1, Backward{{0}, {4, 0}, {4}, BackwardPart::kInput}, 20'000'003),
      event(1, Backward{{0}, {4, 0}, {4}, BackwardPart::kWeight}, 30'000'003),
      event(0, schedule::Recompute{{1}, {5, 1}, {2}}, 40'000'000),
      event(0, schedule::Await{{2}, {7}}, 50'000'000),
      event(0, Update{{2}, {6}, {7}, 12, 13}, 60'000'000)};
  std::vector<timeline::Event> all = compute;
  all.insert(all.begin() + 2, event(0, schedule::Load{{0}, {3, 0}}, 5));
  EXPECT_EQ(compute_events_of(trace_json(timeline_of(all)), "it"), timeline_of(compute));
}

TEST(TraceJson, OfOtherProgramsGivesNothingOrIsRefused) {
  EXPECT_TRUE(compute_events_of(R"({"traceEvents":[{"ph":"X","name":"x","pid":1}, 3]})", "it")
                  .events.empty());
  for (const char* text : {"", "[]", "{", R"({"traceEvents":3})"})
    EXPECT_THROW((void)compute_events_of(text, "it"), BadFile) << text;
}

}  // namespace
}  // namespace pipedream::report
