#include "profile/profile_file.h"

#include <chrono>
#include <cstdio>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "profile/profile_testing.h"

namespace pipedream::profile {
namespace {

using test::message_of;

const std::string kLayerA =
    R"({"name": "a", "kind": "A", "forward": 1, "backward": 2, "weight_bytes": 3, "stash_bytes": 4,
        "outputs": [{"name": "out", "bytes": 5}]})";
const std::string kLayerB =
    R"({"name": "b", "kind": "B", "forward": 1, "backward": 2, "weight_bytes": 3, "stash_bytes": 4,
        "keeps_input": [true], "outputs": []})";
const std::string kEdge = R"({"from": "a", "to": "b"})";

std::string file_of(const std::string& head, const std::string& layers, const std::string& edges) {
  return R"({"format": "pipedream-profile", "version": 1, "model": "m", )" + head +
         "\"layers\": [" + layers + "], \"edges\": [" + edges + "]}";
}

std::string refusal(const std::string& content) {
  return message_of<BadFile>([&] { (void)parse_profile_json(content, "p.json"); });
}

// Returns the message with which a file is refused whose only layer is `layer`.
std::string refused_layer(const std::string& layer) { return refusal(file_of("", layer, "")); }

// Returns the message with which kLayerA is refused after `from` in its text is replaced by `to`.
std::string changed(const std::string& from, const std::string& to) {
  std::string layer = kLayerA;
  const auto at = layer.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return refused_layer(layer.replace(at, from.size(), to));
}

TEST(ParseProfileJson, ReadsEveryField) {
  const Profile profile = parse_profile_json(
      file_of(
          R"("batch": 64, "device": "cpu", "threads": 2, "workers": 3, "passes_spread": 0.25, "input_seconds": 0.5,
                 "whole_seconds": 0.25, )",
          R"({"name": "data", "input": true, "outputs": [{"name": "x", "shape": [2, 3], "bytes": 24},
                                                             {"name": "y", "bytes": 8}]},
                 {"name": "fc", "kind": "Linear", "forward": 0.001, "backward": 0.002,
                  "weight_bytes": 10, "stash_bytes": 20, "keeps_input": [true, false],
                  "outputs": [{"name": "out", "bytes": 30}]})",
          R"({"from": "data", "output": "y", "to": "fc"},
                 {"from": "data", "output": "x", "to": "fc"})"),
      "p.json");
  EXPECT_EQ(profile.model, "m");
  EXPECT_EQ(profile.batch, 64);
  EXPECT_EQ(profile.device, "cpu");
  EXPECT_EQ(profile.threads, 2);
  EXPECT_EQ(profile.workers, 3);
  EXPECT_EQ(profile.spread, 0.25);
  EXPECT_EQ(profile.input, Nanos(500'000'000));
  EXPECT_EQ(profile.whole, Nanos(250'000'000));
  ASSERT_EQ(profile.graph.layers().size(), 2U);
  EXPECT_TRUE(profile.graph.layers()[0].is_input);
  EXPECT_EQ(profile.graph.layers()[1].kind, "Linear");
  EXPECT_EQ(profile.graph.layers()[1].inputs, (std::vector{ValueId{1}, ValueId{0}}));
  EXPECT_EQ(profile.graph.values()[0].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(profile.graph.values()[2].bytes.count, 30);
  EXPECT_EQ(profile.costs[0], LayerCost{});
  const LayerCost fc{Nanos(1'000'000), Nanos(2'000'000), Bytes{10}, Bytes{20}, {true, false}};
  EXPECT_EQ(profile.costs[1], fc);
}

TEST(ParseProfileJson, LeavesOptionalFieldsEmpty) {
  const Profile profile = parse_profile_json(file_of("", kLayerA, ""), "p.json");
  EXPECT_FALSE(profile.batch || profile.threads || profile.whole || profile.spread);
  EXPECT_EQ(profile.device, "");
  EXPECT_EQ(profile.input, Nanos(0));
  EXPECT_TRUE(profile.costs[0].keeps_input.empty());
  EXPECT_TRUE(profile.graph.values()[0].shape.empty());
}

TEST(ParseProfileJson, SumsOverLayers) {
  const Profile profile = parse_profile_json(file_of("", kLayerA + "," + kLayerB, kEdge), "p.json");
  EXPECT_EQ(total_forward(profile), std::chrono::seconds(2));
  EXPECT_EQ(total_backward(profile), std::chrono::seconds(4));
  EXPECT_EQ(total_weights(profile).count, 6);
}

TEST(ParseProfileJson, WeightsThatOthersUseCountAsNoActivation) {
  const std::string layer =
      R"({"name": "a", "kind": "A", "forward": 1, "backward": 2, "weight_bytes": 3, "stash_bytes": 4,
          "outputs": [{"name": "out", "bytes": 5}, {"name": "w", "bytes": 600, "weight": true}]})";
  const Profile profile = parse_profile_json(
      file_of("", layer + "," + kLayerB, R"({"from": "a", "output": "w", "to": "b"})"), "p.json");
  EXPECT_FALSE(profile.graph.values()[0].is_weight);
  EXPECT_TRUE(profile.graph.values()[1].is_weight);
  EXPECT_EQ(held_bytes(profile, LayerId{0}).count, 4 + 5);
  EXPECT_EQ(difference(parse_profile_json(to_json(profile), "again.json"), profile), "");
}

TEST(ParseProfileJson, AnUpdateIsReadWrittenAndCounted) {
  std::string layer = kLayerA;
  layer.replace(layer.find("\"weight_bytes\""), 0, "\"update_seconds\": 0.5, ");
  const Profile profile = parse_profile_json(file_of("", layer + "," + kLayerB, kEdge), "p.json");
  EXPECT_EQ(profile.costs[0].update, Nanos(500'000'000));
  EXPECT_EQ(profile.costs[0].backward_with_update(), Nanos(2'500'000'000));
  EXPECT_EQ(profile.costs[1].update, Nanos(0));
  EXPECT_EQ(profile.costs[1].backward_with_update(), profile.costs[1].backward);
  EXPECT_EQ(total_update(profile), Nanos(500'000'000));
  EXPECT_EQ(total_time(profile), Nanos(6'500'000'000));
  const std::string json = to_json(profile);
  EXPECT_NE(json.find(R"("backward":2.0,"update_seconds":0.5,"weight_bytes":3)"), std::string::npos)
      << json;
  EXPECT_EQ(json.find("update_seconds"), json.rfind("update_seconds")) << "0 is left out";
  EXPECT_EQ(difference(parse_profile_json(json, "again.json"), profile), "");
}

TEST(ParseProfileJson, WhatIsFixedIsReadAndWrittenWhereThereIsAny) {
  std::string layer = kLayerA;
  layer.replace(layer.find("\"weight_bytes\""), 0,
                "\"fixed_forward_seconds\": 0.25, \"fixed_backward_seconds\": 2, ");
  const Profile profile = parse_profile_json(file_of("", layer + "," + kLayerB, kEdge), "p.json");
  EXPECT_EQ(profile.costs[0].fixed_forward, Nanos(250'000'000));
  EXPECT_EQ(profile.costs[0].fixed_backward, profile.costs[0].backward) << "all of it may be";
  EXPECT_EQ(profile.costs[1].fixed_forward, Nanos(0));
  EXPECT_EQ(profile.costs[1].fixed_backward, Nanos(0));
  EXPECT_EQ(total_fixed(profile), Nanos(2'250'000'000));
  EXPECT_EQ(total_time(profile), std::chrono::seconds(6)) << "it is part of the times";
  const std::string json = to_json(profile);
  EXPECT_NE(
      json.find(R"("backward":2.0,"fixed_forward_seconds":0.25,"fixed_backward_seconds":2.0,)"),
      std::string::npos)
      << json;
  EXPECT_EQ(json.find("fixed_forward"), json.rfind("fixed_forward")) << "0 is left out";
  EXPECT_EQ(difference(parse_profile_json(json, "again.json"), profile), "");
}

TEST(ParseProfileJson, WorkingMemoryIsReadAndWrittenWhereItIsKnown) {
  const auto with_working = [](std::string layer) {
    return layer.replace(layer.find("\"weight_bytes\""), 0, "\"working_bytes\": 70, ");
  };
  const Profile some =
      parse_profile_json(file_of("", with_working(kLayerA) + "," + kLayerB, kEdge), "p.json");
  EXPECT_EQ(some.costs[0].working, Working{Bytes{70}});
  EXPECT_FALSE(some.costs[1].working);
  EXPECT_FALSE(knows_working(some));
  const std::string json = to_json(some);
  EXPECT_EQ(json.find("working_bytes"), json.rfind("working_bytes"));
  EXPECT_EQ(difference(parse_profile_json(json, "again.json"), some), "");
  const Profile all = parse_profile_json(
      file_of("", with_working(kLayerA) + "," + with_working(kLayerB), kEdge), "p.json");
  EXPECT_TRUE(knows_working(all));
}

TEST(ParseProfileJson, WhatIsFixedOfWorkingMemoryIsReadAndWritten) {
  const auto with = [](std::string layer, const std::string& keys) {
    return layer.replace(layer.find("\"weight_bytes\""), 0, keys);
  };
  const std::string known = with(
      kLayerA, R"("working_bytes": 70, "fixed_working_bytes": 30, "forward_working_bytes": 60, )"
               R"("fixed_forward_working_bytes": 20, )");
  const Profile profile = parse_profile_json(file_of("", known + "," + kLayerB, kEdge), "p.json");
  EXPECT_EQ(profile.costs[0].working, (Working{Bytes{70}, Bytes{30}}));
  EXPECT_EQ(profile.costs[0].forward_working, (Working{Bytes{60}, Bytes{20}}));
  EXPECT_EQ(profile.costs[1].working, std::nullopt);
  EXPECT_EQ(profile.costs[1].forward_working, Working{});
  const std::string json = to_json(profile);
  EXPECT_EQ(json.find("fixed_working"), json.rfind("fixed_working")) << "0 is left out";
  EXPECT_EQ(json.find("\"forward_working"), json.rfind("\"forward_working"));
  EXPECT_EQ(difference(parse_profile_json(json, "again.json"), profile), "");
}

TEST(ParseProfileJson, RefusesBadHeads) {
  EXPECT_EQ(refusal("[]"), "p.json: wanted an object, found a list");
  EXPECT_EQ(refusal(R"({"format": "pipedream-plan", "version": 1})"),
            "p.json: format: wanted \"pipedream-profile\", found \"pipedream-plan\": is this the "
            "right file?");
  EXPECT_EQ(refusal(R"({"format": "pipedream-profile", "version": 9})"),
            "p.json: version: this program reads version 1, found 9");
  EXPECT_EQ(refusal(file_of("\"bacth\": 1, ", kLayerA, "")),
            "p.json: bacth: unknown key (did you mean 'batch'?)");
  EXPECT_EQ(refusal(file_of("\"batch\": 0, ", kLayerA, "")),
            "p.json: batch: wanted a whole number from 1 to 1073741824, found 0");
  EXPECT_EQ(refusal(file_of("\"threads\": 1.5, ", kLayerA, "")),
            "p.json: threads: wanted a whole number from 1 to 1048576, found 1.5");
  EXPECT_EQ(refusal(file_of("\"input_seconds\": -1, ", kLayerA, "")),
            "p.json: input_seconds: wanted a number from 0 to 1000000, found -1");
  for (const std::string device : {"xpu", "cuda:", "cuda:x", "cuda:01", "cpu:0", ""})
    EXPECT_EQ(refusal(file_of("\"device\": \"" + device + "\", ", kLayerA, "")),
              "p.json: device: wanted cpu, cuda or one like cuda:0, found '" + device + "'");
  EXPECT_EQ(refusal(file_of("\"precision\": \"fp16\", ", kLayerA, "")),
            "p.json: precision: wanted fp32 or bf16, found 'fp16'");
  EXPECT_EQ(refusal(file_of("", "", "")), "p.json: layers: wanted at least one layer, found none");
  EXPECT_EQ(refusal(R"({"format": "pipedream-profile", "version": 1, "model": "m"})"),
            "p.json: the key 'layers' is missing");
  EXPECT_EQ(refusal(R"({"format": "pipedream-profile", "version": 1, "model": "m", "layers": [)" +
                    kLayerA + "]}"),
            "p.json: the key 'edges' is missing");
}

TEST(ParseProfileJson, RefusesBadLayers) {
  EXPECT_EQ(refused_layer("3"), "p.json: layers[0]: wanted an object, found 3");
  EXPECT_EQ(changed("\"name\": \"a\"", "\"name\": \"\""),
            "p.json: layers[0]: a layer has an empty name");
  EXPECT_EQ(changed("\"kind\"", "\"knid\""),
            "p.json: layers[0].knid: unknown key (did you mean 'kind'?)");
  EXPECT_EQ(changed("\"kind\": \"A\",", ""), "p.json: layers[0]: the key 'kind' is missing");
  EXPECT_EQ(changed("\"forward\": 1", "\"forward\": -1e-9"),
            "p.json: layers[0].forward: wanted a number from 0 to 1000000, found -1e-09");
  EXPECT_EQ(changed("\"backward\": 2", "\"backward\": \"2s\""),
            "p.json: layers[0].backward: wanted a number from 0 to 1000000, found \"2s\"");
  EXPECT_EQ(changed("\"weight_bytes\": 3", "\"update_seconds\": -1, \"weight_bytes\": 3"),
            "p.json: layers[0].update_seconds: wanted a number from 0 to 1000000, found -1");
  EXPECT_EQ(changed("\"weight_bytes\": 3", "\"fixed_forward_seconds\": 1.5, \"weight_bytes\": 3"),
            "p.json: layers[0].fixed_forward_seconds: wanted at most the 1 s of 'forward', "
            "found 1.5 s");
  EXPECT_EQ(changed("\"weight_bytes\": 3", "\"fixed_backward_seconds\": 3, \"weight_bytes\": 3"),
            "p.json: layers[0].fixed_backward_seconds: wanted at most the 2 s of 'backward', "
            "found 3 s");
  EXPECT_EQ(changed("\"weight_bytes\": 3",
                    "\"working_bytes\": 5, \"fixed_working_bytes\": 6, \"weight_bytes\": 3"),
            "p.json: layers[0].fixed_working_bytes: wanted at most the 5 B of 'working_bytes', "
            "found 6 B");
  EXPECT_EQ(
      changed("\"weight_bytes\": 3", "\"fixed_forward_working_bytes\": 6, \"weight_bytes\": 3"),
      "p.json: layers[0].fixed_forward_working_bytes: wanted at most the 0 B of "
      "'forward_working_bytes', found 6 B");
  EXPECT_EQ(changed("\"weight_bytes\": 3", "\"weight_bytes\": 9007199254740993"),
            "p.json: layers[0].weight_bytes: wanted a whole number from 0 to 9007199254740992, "
            "found 9007199254740993");
  EXPECT_EQ(changed("\"stash_bytes\": 4", "\"stash_bytes\": -4"),
            "p.json: layers[0].stash_bytes: wanted a whole number from 0 to 9007199254740992, "
            "found -4");
  EXPECT_EQ(changed("\"bytes\": 5", "\"byte\": 5"),
            "p.json: layers[0].outputs[0].byte: unknown key (did you mean 'bytes'?)");
  EXPECT_EQ(changed("\"bytes\": 5", "\"bytes\": 5, \"shape\": [1, -1]"),
            "p.json: layers[0].outputs[0].shape[1]: wanted a whole number from 0 to 1099511627776, "
            "found -1");
  EXPECT_EQ(changed("\"bytes\": 5}", "\"bytes\": 5}, {\"name\": \"out\", \"bytes\": 5}"),
            "p.json: layers[0]: layer 'a' has two outputs named 'out'");
  EXPECT_EQ(changed("\"name\": \"out\"", "\"name\": \"\""),
            "p.json: layers[0]: layer 'a' has an output with an empty name");
  EXPECT_EQ(refusal(file_of("", kLayerA + "," + kLayerA, "")),
            "p.json: layers[1]: two layers are named 'a'");
}

TEST(ParseProfileJson, RefusesBadEdges) {
  const auto edge = [](const std::string& edges) {
    return refusal(file_of("", kLayerA + "," + kLayerB, edges));
  };
  EXPECT_EQ(edge(R"({"from": "a", "too": "b"})"),
            "p.json: edges[0].too: unknown key (did you mean 'to'?)");
  EXPECT_EQ(edge(R"({"from": "a"})"), "p.json: edges[0]: the key 'to' is missing");
  EXPECT_EQ(edge(kEdge + R"(, {"from": "a", "to": "c"})"),
            "p.json: edges[1]: an edge names the layer 'c', which does not exist");
  EXPECT_EQ(edge(R"({"from": "a", "output": "x", "to": "b"})"),
            "p.json: edges[0]: layer 'a' has no output named 'x'");
  EXPECT_EQ(edge(kEdge + "," + kEdge), "p.json: there are two edges from 'a' to 'b'");
  EXPECT_EQ(edge(R"({"from": "a", "to": "a"})"), "p.json: the layers form a cycle: 'a' → 'a'");
  EXPECT_EQ(edge(""),
            "p.json: layers[1].keeps_input: wanted one entry for each of the 0 inputs, found 1");
}

TEST(ParseProfileJson, RefusesAnEdgeIntoAnInput) {
  EXPECT_EQ(
      refusal(file_of("", kLayerA + R"(, {"name": "b", "input": true, "outputs": []})", kEdge)),
      "p.json: edges[0]: an edge leads from 'a' into the input layer 'b'");
}

// Each layer is within the limits by itself, but the sums over all layers exceed them.
TEST(ParseProfileJson, RefusesTotalsThatNoSumCouldHold) {
  const auto many = [](const std::string& costs) {
    std::string layers;
    for (int i = 0; i < 2; ++i)
      layers += (i == 0 ? "" : ", ") + (R"({"name": ")" + std::to_string(i)) +
                R"(", "kind": "", "outputs": [], )" + costs + "}";
    return refusal(file_of("", layers, ""));
  };
  EXPECT_EQ(many(R"("forward": 1e6, "backward": 0, "weight_bytes": 0, "stash_bytes": 0)"),
            "p.json: all layers together take more than 1000000 s for one minibatch: is a unit "
            "wrong?");
  EXPECT_EQ(many(R"("forward": 0, "backward": 0, "update_seconds": 1e6, "weight_bytes": 0,
                    "stash_bytes": 0)"),
            "p.json: all layers together take more than 1000000 s for one minibatch: is a unit "
            "wrong?");
  EXPECT_EQ(many(R"("forward": 0, "backward": 0, "weight_bytes": 9007199254740992,
                    "stash_bytes": 0)"),
            "p.json: all layers together hold more than 8192 TiB: is a unit wrong?");
}

TEST(ToJson, WritesOneLayerAndOneEdgeALine) {
  const Profile profile = parse_profile_json(file_of("", kLayerA + "," + kLayerB, kEdge), "p.json");
  EXPECT_EQ(to_json(profile), R"({
  "format": "pipedream-profile",
  "version": 1,
  "model": "m",
  "input_seconds": 0.0,
  "layers": [
    {"name":"a","kind":"A","forward":1.0,"backward":2.0,"weight_bytes":3,"stash_bytes":4,"outputs":[{"name":"out","bytes":5}]},
    {"name":"b","kind":"B","forward":1.0,"backward":2.0,"weight_bytes":3,"stash_bytes":4,"keeps_input":[true],"outputs":[]}
  ],
  "edges": [
    {"from":"a","to":"b"}
  ]
}
)");
}

TEST(ToJson, KeepsEveryNanosecondUpToTheLargestTime) {
  for (const std::int64_t time :
       {std::int64_t{1}, std::int64_t{22'307'001}, std::int64_t{123'456'789'012'345},
        999'999'999'999'999, 1'000'000'000'000'000}) {
    Profile profile = parse_profile_json(file_of("", kLayerA, ""), "p.json");
    profile.whole = profile.input = Nanos(time);
    const Profile again = parse_profile_json(to_json(profile), "again.json");
    EXPECT_EQ(again.whole, Nanos(time));
    EXPECT_EQ(again.input, Nanos(time));
  }
}

TEST(ParseProfile, TellsTheFormatsApartByTheFirstCharacter) {
  EXPECT_EQ(parse_profile("\n " + file_of("", kLayerA, ""), "p").graph.layers()[0].name, "a");
  EXPECT_EQ(parse_profile("node1 -- ReLU -- forward_compute_time=1, backward_compute_time=1, "
                          "activation_size=1, parameter_size=1",
                          "p")
                .graph.layers()[0]
                .name,
            "node1");
  EXPECT_EQ(message_of<BadFile>([] { (void)parse_profile(" \n", "p"); }),
            "p: wanted a profile, found an empty file");
}

TEST(ReadProfile, NamesAMissingFile) {
  EXPECT_EQ(message_of<IoError>([] { (void)read_profile("/no/such.json"); }),
            "cannot read /no/such.json: No such file or directory");
}

TEST(Documents, TheProfileInTheDocumentIsReadAndSurvivesTheRoundTrip) {
  const auto document = read_file(std::filesystem::path(PD_SOURCE_DIR) / "docs/formats.md");
  const auto blocks = test::fenced_blocks(document, "json");
  ASSERT_EQ(blocks.size(), 5U)
      << "a profile, a plan, a training configuration, a manifest and a vocabulary";
  const Profile profile = parse_profile(blocks[0], "docs/formats.md");
  EXPECT_EQ(profile.graph.layers().size(), 5U);
  EXPECT_EQ(difference(parse_profile(to_json(profile), "again.json"), profile), "");
}

TEST(ParseProfileJson, ReadsAHundredThousandLayers) {
  constexpr int kCount = test::kSanitized ? 10'000 : 100'000;
  std::string layers;
  std::string edges;
  for (int i = 0; i < kCount; ++i) {
    const std::string name = "layer" + std::to_string(i);
    layers += (i == 0 ? "" : ",\n") + (R"({"name": ")" + name) +
              R"(", "kind": "Linear", "forward": 0.001, "backward": 0.002,
                 "weight_bytes": 1000, "stash_bytes": 0, "keeps_input": [)" +
              (i == 0 ? "" : "true") + R"(], "outputs": [{"name": "out", "bytes": 1000}]})";
    if (i > 0)
      edges += (i == 1 ? "" : ",\n") + (R"({"from": "layer)" + std::to_string(i - 1)) +
               R"(", "to": ")" + name + "\"}";
  }
  const std::string content = file_of("", layers, edges);
  const auto begin = std::chrono::steady_clock::now();
  const Profile profile = parse_profile_json(content, "p.json");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("a profile of %d layers (%.0f MB): %.2f s\n", kCount,
              static_cast<double>(content.size()) / 1e6, took.count());
  ASSERT_EQ(profile.graph.order().size(), std::size_t{kCount});
  EXPECT_EQ(profile.graph.order().back(), LayerId{kCount - 1});
  EXPECT_EQ(total_backward(profile), kCount * std::chrono::milliseconds(2));
}

}  // namespace
}  // namespace pipedream::profile
