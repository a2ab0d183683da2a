#include "plan/plan_file.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "plan/plan_file_testing.h"

namespace pipedream::plan {
namespace {

using test::message_of;

// Returns data ─▶ conv1 ─▶ relu1 ─▶ fc, in which fc also uses data.
graph::Graph small_graph() {
  graph::Builder builder;
  builder.add_input("data", {{"out", {}, Bytes{1}}});
  for (const char* name : {"conv1", "relu1", "fc"})
    builder.add_layer(name, "", {{"out", {}, Bytes{1}}});
  builder.add_edge("data", "", "conv1");
  builder.add_edge("conv1", "", "relu1");
  builder.add_edge("relu1", "", "fc");
  builder.add_edge("data", "", "fc");
  return std::move(builder).build();
}

const std::string kText = R"({
  "format": "pipedream-plan",
  "version": 1,
  "model": "small",
  "system": "pipedream",
  "config": "2-1",
  "workers": 4,
  "stages": [
    {
      "first": 0,
      "last": 1,
      "layers": [
        "conv1",
        "relu1"
      ],
      "replicas": 2,
      "workers": [
        3,
        0
      ],
      "depth": 2,
      "recompute": true,
      "seconds": 0.5,
      "weight_bytes": 1000,
      "memory_bytes": 4000
    },
    {
      "first": 2,
      "last": 2,
      "layers": [
        "fc"
      ],
      "replicas": 1,
      "workers": [
        1
      ],
      "depth": 1,
      "recompute": false,
      "seconds": 0.25,
      "weight_bytes": 10,
      "memory_bytes": 40
    }
  ],
  "microbatches": 8,
  "predicted": {
    "seconds_per_minibatch": 0.125,
    "simulated_seconds_per_minibatch": 0.25,
    "samples_per_second": 512.0,
    "speedup_over_dp": null,
    "bytes_per_minibatch": 4096.0,
    "drain_seconds": 0.5
  },
  "gap": 0.0,
  "planner_seconds": 0.75
}
)";

PlanFile small_plan() {
  PlanFile file;
  file.model = "small";
  file.workers = 4;
  file.plan.system = "pipedream";
  file.plan.microbatches = 8;
  file.plan.stages = {{{LayerId{1}, LayerId{2}}, {WorkerId{3}, WorkerId{0}}, 2, true},
                      {{LayerId{3}}, {WorkerId{1}}, 1, false}};
  file.predicted.seconds_per_minibatch = 0.125;
  file.predicted.simulated_seconds_per_minibatch = 0.25;
  file.predicted.samples_per_second = 512;
  file.predicted.bytes_per_minibatch = 4096;
  file.predicted.drain_seconds = 0.5;
  file.predicted.gap = 0;
  file.predicted.planner_seconds = 0.75;
  file.predicted.stages = {{0.5, Bytes{1000}, Bytes{4000}}, {0.25, Bytes{10}, Bytes{40}}};
  return file;
}

std::string refusal(const std::string& content) {
  return message_of<BadFile>([&] { (void)parse_plan(content, "p.json", small_graph()); });
}

// Returns the message for kText with the first `from` in it replaced by `to`.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kText;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return refusal(text.replace(at, from.size(), to));
}

TEST(PlanToJson, WritesTheKeysOfTheCommandLine) {
  EXPECT_EQ(to_json(small_plan(), small_graph()), kText);
}

// The network's order differs from the order of declaration, and inputs do not count.
TEST(PlanToJson, CountsFirstAndLastInTheOrderOfTheNetwork) {
  graph::Builder builder;
  builder.add_layer("b", "", {{"out", {}, Bytes{1}}});
  builder.add_input("data", {{"out", {}, Bytes{1}}});
  builder.add_layer("a", "", {{"out", {}, Bytes{1}}});
  builder.add_layer("side", "", {{"out", {}, Bytes{1}}});
  builder.add_edge("data", "", "a");
  builder.add_edge("a", "", "b");
  const graph::Graph graph = std::move(builder).build();
  PlanFile file = small_plan();
  file.plan.stages[0].layers = {LayerId{2}, LayerId{3}};
  file.plan.stages[1].layers = {LayerId{0}};
  const std::string text = to_json(file, graph);
  std::string found;
  for (const char* key : {"\"first\": ", "\"last\": "})
    for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
      found += text[at + std::string_view(key).size()];
  std::vector<std::string> order;
  for (const LayerId layer : graph.order()) order.push_back(graph.layer(layer).name);
  EXPECT_EQ(order, (std::vector<std::string>{"data", "a", "b", "side"}));
  EXPECT_EQ(found, "0121") << "a and side are 0 and 2, b is 1";
}

TEST(ParsePlan, ReadsWhatWasWritten) {
  EXPECT_EQ(difference(parse_plan(kText, "p.json", small_graph()), small_plan()), "");
}

TEST(ParsePlan, KnowsNoRateWhereTheBatchIsNotKnown) {
  PlanFile file = small_plan();
  file.predicted.samples_per_second.reset();
  file.predicted.speedup_over_dp = 3.5;
  const PlanFile again = parse_plan(to_json(file, small_graph()), "p.json", small_graph());
  EXPECT_EQ(difference(again, file), "");
  EXPECT_FALSE(again.predicted.samples_per_second);
  EXPECT_EQ(again.predicted.speedup_over_dp, 3.5);
}

TEST(ParsePlan, ReadsPlansOfEarlierVersionsWithoutTheCostOfADrain) {
  std::string text = kText;
  const std::string line = ",\n    \"drain_seconds\": 0.5";
  const PlanFile found =
      parse_plan(text.erase(text.find(line), line.size()), "p.json", small_graph());
  EXPECT_FALSE(found.predicted.drain_seconds);
  PlanFile file = small_plan();
  file.predicted.drain_seconds.reset();
  EXPECT_EQ(difference(parse_plan(to_json(file, small_graph()), "p.json", small_graph()), file),
            "");
}

TEST(ParsePlan, RefusesAnotherFormatOrVersion) {
  EXPECT_EQ(refusal("[]"), "p.json: wanted an object, found a list");
  EXPECT_EQ(refusal("{"),
            "p.json: not JSON: parse error at line 1, column 2: syntax error while parsing object "
            "key - unexpected end of input; expected string literal");
  EXPECT_EQ(refusal("{}"), "p.json: the key 'format' is missing");
  EXPECT_EQ(changed("pipedream-plan", "pipedream-profile"),
            "p.json: format: wanted \"pipedream-plan\", found \"pipedream-profile\": is this the "
            "right file?");
  EXPECT_EQ(changed("\"version\": 1", "\"version\": 2"),
            "p.json: version: this program reads version 1, found 2");
}

TEST(ParsePlan, RefusesUnknownKeysAndNamesTheNearest) {
  EXPECT_EQ(changed("\"microbatches\"", "\"microbatch\""),
            "p.json: microbatch: unknown key (did you mean 'microbatches'?)");
  EXPECT_EQ(changed("\"recompute\"", "\"recomputes\""),
            "p.json: stages[0].recomputes: unknown key (did you mean 'recompute'?)");
  EXPECT_EQ(changed("\"speedup_over_dp\"", "\"speedup-over-dq\""),
            "p.json: predicted.speedup-over-dq: unknown key (did you mean 'speedup_over_dp'?)");
}

TEST(ParsePlan, RefusesAMissingKey) {
  EXPECT_EQ(changed("  \"model\": \"small\",\n", ""), "p.json: the key 'model' is missing");
  EXPECT_EQ(changed("  \"system\": \"pipedream\",\n", ""), "p.json: the key 'system' is missing");
  EXPECT_EQ(changed("  \"config\": \"2-1\",\n", ""), "p.json: the key 'config' is missing");
  EXPECT_EQ(changed("  \"workers\": 4,\n", ""), "p.json: the key 'workers' is missing");
  EXPECT_EQ(changed("  \"microbatches\": 8,\n", ""), "p.json: the key 'microbatches' is missing");
  EXPECT_EQ(changed("  \"gap\": 0.0,\n", ""), "p.json: the key 'gap' is missing");
  EXPECT_EQ(changed(",\n  \"planner_seconds\": 0.75", ""),
            "p.json: the key 'planner_seconds' is missing");
  EXPECT_EQ(changed("      \"replicas\": 2,\n", ""),
            "p.json: stages[0]: the key 'replicas' is missing");
  EXPECT_EQ(changed("      \"depth\": 2,\n", ""), "p.json: stages[0]: the key 'depth' is missing");
  EXPECT_EQ(changed("      \"recompute\": true,\n", ""),
            "p.json: stages[0]: the key 'recompute' is missing");
  EXPECT_EQ(changed("      \"seconds\": 0.5,\n", ""),
            "p.json: stages[0]: the key 'seconds' is missing");
  EXPECT_EQ(changed("    \"speedup_over_dp\": null,\n", ""),
            "p.json: predicted: the key 'speedup_over_dp' is missing");
}

TEST(ParsePlan, RefusesLayersThatTheNetworkDoesNotHave) {
  EXPECT_EQ(changed("\"conv1\"", "\"conf1\""),
            "p.json: stages[0].layers[0]: the network has no layer 'conf1' (did you mean "
            "'conv1'?)");
  EXPECT_EQ(changed("\"relu1\"", "\"something else\""),
            "p.json: stages[0].layers[1]: the network has no layer 'something else': is the "
            "plan for another model?");
  EXPECT_EQ(changed("\"relu1\"", "7"), "p.json: stages[0].layers[1]: wanted a string, found 7");
}

TEST(ParsePlan, RefusesStagesThatAreNoPlanOfTheNetwork) {
  EXPECT_EQ(changed(",\n        \"relu1\"", ""), "p.json: stages: layer 'relu1' is in no stage");
  EXPECT_EQ(changed("\"fc\"", "\"relu1\", \"fc\""),
            "p.json: stages: layer 'relu1' is in two stages");
  EXPECT_EQ(changed("\"relu1\"", "\"relu1\", \"relu1\""),
            "p.json: stages: layer 'relu1' is in two stages");
  EXPECT_EQ(changed("\"conv1\"", "\"data\", \"conv1\""),
            "p.json: stages: layer 'data' is an input and in a stage: the stages that use it read "
            "it themselves");
  std::string text = kText;
  text.replace(text.find("\"relu1\""), 7, "\"fc\"");
  text.replace(text.rfind("\"fc\""), 4, "\"relu1\"");
  EXPECT_EQ(refusal(text),
            "p.json: stages: layer 'fc' is in an earlier stage than 'relu1', whose output it uses");
}

TEST(ParsePlan, PutsTheLayersOfAStageInOrder) {
  std::string text = kText;
  text.replace(text.find("\"conv1\""), 7, "\"relu1\"");
  text.replace(text.rfind("\"relu1\""), 7, "\"conv1\"");
  EXPECT_EQ(to_json(parse_plan(text, "p.json", small_graph()), small_graph()), kText);
}

TEST(ParsePlan, RefusesEndsThatAreNotThoseOfTheStage) {
  EXPECT_EQ(changed("\"first\": 0", "\"first\": 1"),
            "p.json: stages[0].first: wanted 0, the position of layer 'conv1', found 1");
  EXPECT_EQ(changed("\"last\": 1", "\"last\": \"x\""),
            "p.json: stages[0].last: wanted a whole number from 0 to 2147483647, found \"x\"");
}

TEST(ParsePlan, RefusesEmptyLists) {
  EXPECT_EQ(changed("\n        \"fc\"\n", ""),
            "p.json: stages[1].layers: wanted at least one layer");
  EXPECT_EQ(changed("\n        3,\n        0\n", ""),
            "p.json: stages[0].workers: wanted at least one worker");
  const auto begin = kText.find("    {");
  const auto end = kText.find("  ],\n  \"microbatches\"");
  EXPECT_EQ(refusal(std::string(kText).erase(begin, end - begin)),
            "p.json: stages: wanted at least one stage");
}

TEST(ParsePlan, RefusesWorkersThatAreNotThereOrInAListTwice) {
  EXPECT_EQ(changed("        3,\n", "        4,\n"),
            "p.json: stages[0].workers[0]: wanted a whole number from 0 to 3, found 4");
  EXPECT_EQ(changed("        3,\n", "        -1,\n"),
            "p.json: stages[0].workers[0]: wanted a whole number from 0 to 3, found -1");
  EXPECT_EQ(changed("        3,\n", "        0,\n"),
            "p.json: stages[0].workers[1]: this worker is in the list twice");
  EXPECT_EQ(changed("\"workers\": 4", "\"workers\": 0"),
            "p.json: workers: wanted a whole number from 1 to 1000000, found 0");
  EXPECT_EQ(changed("\"workers\": 4", "\"workers\": 1000001"),
            "p.json: workers: wanted a whole number from 1 to 1000000, found 1000001");
}

TEST(ParsePlan, RefusesCountsThatContradictTheWorkers) {
  EXPECT_EQ(changed("\"replicas\": 2", "\"replicas\": 3"),
            "p.json: stages[0].replicas: wanted 2, the number of workers");
  EXPECT_EQ(changed("\"config\": \"2-1\"", "\"config\": \"1-2\""),
            "p.json: config: wanted '2-1', the stages' replicas");
}

TEST(ParsePlan, RefusesNumbersThatCannotBe) {
  EXPECT_EQ(changed("\"depth\": 2", "\"depth\": 0"),
            "p.json: stages[0].depth: wanted a whole number from 1 to 1048576, found 0");
  EXPECT_EQ(changed("\"depth\": 2", "\"depth\": 1.5"),
            "p.json: stages[0].depth: wanted a whole number from 1 to 1048576, found 1.5");
  EXPECT_EQ(changed("\"microbatches\": 8", "\"microbatches\": 0"),
            "p.json: microbatches: wanted a whole number from 1 to 1048576, found 0");
  EXPECT_EQ(changed("\"microbatches\": 8", "\"microbatches\": 8, \"accumulate\": 0"),
            "p.json: accumulate: wanted a whole number from 1 to 1024, found 0");
  EXPECT_EQ(changed("\"recompute\": true", "\"recompute\": 1"),
            "p.json: stages[0].recompute: wanted true or false, found 1");
  EXPECT_EQ(changed("\"seconds\": 0.5", "\"seconds\": -0.5"),
            "p.json: stages[0].seconds: wanted a number from 0 to 1e+30, found -0.5");
  EXPECT_EQ(changed("\"memory_bytes\": 4000", "\"memory_bytes\": 0.5"),
            "p.json: stages[0].memory_bytes: wanted a whole number from 0 to 9007199254740992, "
            "found 0.5");
  EXPECT_EQ(changed("\"seconds_per_minibatch\": 0.125", "\"seconds_per_minibatch\": null"),
            "p.json: predicted.seconds_per_minibatch: wanted a number from 0 to 1e+30, "
            "found null");
  EXPECT_EQ(changed("\"samples_per_second\": 512.0", "\"samples_per_second\": \"fast\""),
            "p.json: predicted.samples_per_second: wanted a number from 0 to 1e+30, found "
            "\"fast\"");
  EXPECT_EQ(changed("\"gap\": 0.0", "\"gap\": -1"),
            "p.json: gap: wanted a number from 0 to 1e+30, found -1");
}

TEST(ReadPlan, ReadsAFileAndNamesOneThatIsMissing) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "plan.json";
  write_file_atomically(path, kText);
  EXPECT_EQ(difference(read_plan(path, small_graph()), small_plan()), "");
  EXPECT_EQ(message_of<IoError>([] { (void)read_plan("/no/such.json", small_graph()); }),
            "cannot read /no/such.json: No such file or directory");
}

}  // namespace
}  // namespace pipedream::plan
