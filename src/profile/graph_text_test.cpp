#include "profile/graph_text.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "profile/profile_file.h"
#include "profile/profile_testing.h"

namespace pipedream::profile {
namespace {

using test::message_of;

const std::string kCosts =
    "forward_compute_time=1.5, backward_compute_time=2.5, activation_size=100.0, "
    "parameter_size=7.0";

Profile parsed(const std::string& content) {
  return parse_graph_text(content, "dir/net.graph.txt");
}

std::string text_refusal(const std::string& content) {
  return message_of<BadFile>([&] { (void)parse_graph_text(content, "g.txt"); });
}

std::string names_of(const Profile& profile) {
  std::string names;
  for (const graph::Layer& layer : profile.graph.layers()) names += layer.name + " ";
  return names;
}

TEST(ParseGraphText, ReadsMillisecondsAndBytes) {
  const Profile profile = parsed("node1 -- Conv2d(3, 64) -- " + kCosts + "\n");
  EXPECT_EQ(profile.model, "net");
  EXPECT_FALSE(profile.batch.has_value());
  EXPECT_EQ(profile.graph.layers().at(0).name, "node1");
  EXPECT_EQ(profile.graph.layers()[0].kind, "Conv2d(3, 64)");
  EXPECT_EQ(profile.graph.values().at(0).bytes.count, 100);
  const LayerCost cost{
      .forward = Nanos(1'500'000), .backward = Nanos(2'500'000), .weights = Bytes{7}};
  EXPECT_EQ(profile.costs.at(0), cost);
  EXPECT_EQ(held_bytes(profile, LayerId{0}).count, 100) << "outputs count as kept";
}

TEST(ParseGraphText, AnInputsTimeCountsAsReadingAndItCostsNothingElse) {
  const Profile profile = parsed("node1 -- Input0 -- " + kCosts + "\nnode2 -- Input1 -- " + kCosts +
                                 "\nnode3 -- ReLU -- " + kCosts + "\n\tnode1 -- node3\n");
  EXPECT_TRUE(profile.graph.layers()[0].is_input);
  EXPECT_TRUE(profile.graph.layers()[1].is_input);
  EXPECT_FALSE(profile.graph.layers()[2].is_input);
  EXPECT_EQ(profile.input, Nanos(3'000'000));
  EXPECT_EQ(profile.costs[0], LayerCost{});
  EXPECT_EQ(profile.graph.value(profile.graph.layers()[2].inputs.at(0)).producer, LayerId{0});
}

TEST(ParseGraphText, SumsAListOfSizes) {
  const Profile profile = parsed(
      "n -- LSTM -- forward_compute_time=0, backward_compute_time=0, "
      "activation_size=[6291456.0; 131072.0; 131072.0], parameter_size=[1.0]");
  EXPECT_EQ(profile.graph.values()[0].bytes.count, 6'553'600);
  EXPECT_EQ(profile.costs[0].weights.count, 1);
}

TEST(ParseGraphText, TheDescriptionMayHoldSeparatorsCommasAndEqualsSigns) {
  const std::string description = "Odd -- [a, b=1, forward_compute_time=3] -- stage_id=4";
  const Profile profile = parsed("n -- " + description + " -- " + kCosts);
  EXPECT_EQ(profile.graph.layers()[0].kind, description);
  EXPECT_EQ(profile.costs[0].forward, Nanos(1'500'000));
}

TEST(ParseGraphText, IgnoresTheStageOfAnEarlierPlan) {
  const Profile with = parsed("n -- ReLU -- " + kCosts + " -- stage_id=1\n");
  EXPECT_EQ(difference(with, parsed("n -- ReLU -- " + kCosts + "\n")), "");
}

TEST(ParseGraphText, CostsMayComeInAnyOrder) {
  EXPECT_EQ(difference(parsed("n -- ReLU -- parameter_size=7.0, activation_size=100.0, "
                              "backward_compute_time=2.5, forward_compute_time=1.5"),
                       parsed("n -- ReLU -- " + kCosts)),
            "");
}

TEST(ParseGraphText, AcceptsWindowsLineEndsAndEmptyLines) {
  const std::string text =
      "node1 -- A -- " + kCosts + "\nnode2 -- B -- " + kCosts + "\n\tnode1 -- node2\n";
  std::string windows = "\r\n \r\n";
  for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(difference(parsed(windows), parsed(text)), "");
  EXPECT_EQ(parsed(windows).graph.layers()[1].name, "node2");
}

TEST(ParseGraphText, PutsNodesInTheOrderOfTheirNumbers) {
  std::string text;
  for (const char* id : {"node10", "node9", "other1", "node1", "7", "node2"})
    text += std::string(id) + " -- ReLU -- " + kCosts + "\n\t" + id + " -- last\n";
  text += "last -- ReLU -- " + kCosts + "\n";
  EXPECT_EQ(names_of(parsed(text)), "7 last node1 node2 node9 node10 other1 ");
}

TEST(ParseGraphText, EdgesMayComeBeforeTheirNodes) {
  const Profile profile =
      parsed("\tb -- a\na -- ReLU -- " + kCosts + "\nb -- ReLU -- " + kCosts + "\n");
  EXPECT_EQ(profile.graph.order(), (std::vector{LayerId{1}, LayerId{0}}));
}

TEST(ParseGraphText, AFileThatWasCutOffBeforeItsEdgesIsRefused) {
  EXPECT_EQ(text_refusal("node1 -- ReLU -- " + kCosts + "\nnode2 -- ReLU -- " + kCosts + "\n"),
            "g.txt: no edge leads to or from node \"node1\": is the file cut off?");
}

TEST(ParseGraphText, NamesTheLineOfABadNode) {
  const std::string good = "node1 -- ReLU -- " + kCosts + "\n";
  EXPECT_EQ(text_refusal(good + "rubbish"),
            "g.txt:2: wanted our JSON, or PipeDream's graph text with nodes "
            "\"id -- description -- costs\" and edges \"<TAB>id -- id\", found \"rubbish\"");
  EXPECT_EQ(text_refusal(good + "\n\nnode2 -- ReLU -- stage_id=3").find("g.txt:4: wanted our JSON"),
            0U);
  EXPECT_EQ(text_refusal(" -- ReLU -- " + kCosts), "g.txt:1: the node's id is empty");
  EXPECT_EQ(text_refusal(good + good), "g.txt:2: two layers are named 'node1'");
}

TEST(ParseGraphText, NamesTheLineOfABadCost) {
  const auto costs = [](const std::string& text) { return text_refusal("\nn -- ReLU -- " + text); };
  const std::string wanted =
      "g.txt:2: wanted forward_compute_time=…, backward_compute_time=…, activation_size=…, "
      "parameter_size=…, found ";
  EXPECT_EQ(costs("colour=3"), wanted + "\"colour=3\"");
  EXPECT_EQ(costs("forward_compute_time"), wanted + "\"forward_compute_time\"");
  EXPECT_EQ(costs(""), wanted + "\"\"");
  EXPECT_EQ(costs("forward_compute_time=1, forward_compute_time=1"),
            "g.txt:2: forward_compute_time is given twice");
  EXPECT_EQ(costs("forward_compute_time=1, backward_compute_time=1, activation_size=1"),
            "g.txt:2: parameter_size is missing");
  const auto number = [&](const std::string& text) {
    return costs("forward_compute_time=" + text);
  };
  const std::string range =
      "g.txt:2: forward_compute_time: wanted a number from 0 to 1e+09, found ";
  for (const char* bad : {"-1", "nan", "inf", "1e999", "2e9", "1x", "", "0x1"})
    EXPECT_EQ(number(bad), range + "\"" + bad + "\"");
  EXPECT_EQ(costs("activation_size=9.1e15"),
            "g.txt:2: activation_size: wanted a number from 0 to 9.0072e+15, found \"9.1e15\"");
}

TEST(ParseGraphText, NamesTheLineOfABadList) {
  const auto list = [](const std::string& text) {
    return text_refusal("n -- ReLU -- activation_size=" + text);
  };
  const std::string range =
      "g.txt:1: activation_size: wanted a number from 0 to 9.0072e+15, found ";
  EXPECT_EQ(list("[1.0; 2.0"), "g.txt:1: activation_size: the list has no end: \"[1.0; 2.0\"");
  EXPECT_EQ(list("["), "g.txt:1: activation_size: the list has no end: \"[\"");
  EXPECT_EQ(list("[]"), range + "\"\"");
  EXPECT_EQ(list("[1.0; x]"), range + "\"x\"");
  EXPECT_EQ(list("[9e15; 9e15]"), "g.txt:1: activation_size: the sum 1.8e+16 is too large");
}

TEST(ParseGraphText, NamesTheLineOfABadEdge) {
  const std::string nodes = "a -- ReLU -- " + kCosts + "\nb -- Input -- " + kCosts + "\n";
  EXPECT_EQ(text_refusal(nodes + "\ta"),
            "g.txt:3: wanted an edge \"<TAB>producer -- consumer\", found \"?a\"");
  EXPECT_EQ(text_refusal(nodes + "\ta -- b -- c").find("g.txt:3: wanted an edge"), 0U);
  EXPECT_EQ(text_refusal(nodes + "\t -- b").find("g.txt:3: wanted an edge"), 0U);
  EXPECT_EQ(text_refusal(nodes + "\n\ta -- c"),
            "g.txt:4: an edge names the layer 'c', which does not exist");
  EXPECT_EQ(text_refusal(nodes + "\ta -- b"),
            "g.txt:3: an edge leads from 'a' into the input layer 'b'");
}

TEST(ParseGraphText, NamesTheFileOfABadGraph) {
  const std::string nodes = "a -- ReLU -- " + kCosts + "\nb -- ReLU -- " + kCosts + "\n";
  EXPECT_EQ(text_refusal(nodes + "\ta -- b\n\tb -- a\n"),
            "g.txt: the layers form a cycle: 'a' → 'b' → 'a'");
  EXPECT_EQ(text_refusal(nodes + "\ta -- b\n\ta -- b\n"),
            "g.txt: there are two edges from 'a' to 'b'");
  EXPECT_EQ(text_refusal(""), "g.txt: wanted at least one layer, found none");
  EXPECT_EQ(text_refusal("\ta -- b\n"), "g.txt: wanted at least one layer, found none");
}

// Each line is within the limits by itself, but the sums over all lines exceed them.
TEST(ParseGraphText, RefusesTotalsThatNoSumCouldHold) {
  const auto twice = [](const std::string& kind, const std::string& time, const std::string& size) {
    const std::string rest = " -- " + kind + " -- forward_compute_time=" + time +
                             ", backward_compute_time=0, activation_size=" + size +
                             ", parameter_size=0\n";
    return text_refusal("1" + rest + "2" + rest);
  };
  EXPECT_EQ(twice("Input", "1e9", "0"), "g.txt:2: all inputs together take more than 1000000 s");
  EXPECT_EQ(
      twice("ReLU", "1e9", "0"),
      "g.txt: all layers together take more than 1000000 s for one minibatch: is a unit wrong?");
  EXPECT_EQ(twice("ReLU", "0", "9e15"),
            "g.txt: all layers together hold more than 8192 TiB: is a unit wrong?");
}

// Text that our JSON cannot hold is refused when it is read, not later when the profile is written.
TEST(ParseGraphText, RefusesControlCharactersAndBytesThatAreNotUtf8) {
  for (const std::string& bad : {std::string("\xff"), std::string("\x01"), std::string("\x7f"),
                                 std::string(1, '\0'), std::string("\t"), std::string("\r")}) {
    EXPECT_EQ(text_refusal("a" + bad + "b -- ReLU -- " + kCosts)
                  .find("g.txt:1: wanted UTF-8 without control characters, found \"a"),
              0U);
    EXPECT_EQ(text_refusal("a -- ReLU -- " + kCosts + "\n\ta -- x" + bad + "y")
                  .find("g.txt:2: wanted UTF-8 without control characters, found \"?a -- x"),
              0U);
  }
  EXPECT_EQ(parsed("ä -- Größe → × -- " + kCosts).graph.layers()[0].name, "ä");
}

TEST(ParseGraphText, AFileNameThatIsNotTextGivesNoName) {
  const Profile profile = parse_graph_text("a -- ReLU -- " + kCosts, "caf\xe9.graph.txt");
  EXPECT_EQ(profile.model, "");
  EXPECT_NO_THROW((void)to_json(profile));
}

TEST(Documents, TheGraphTextInTheDocumentIsRead) {
  const auto document = read_file(std::filesystem::path(PD_SOURCE_DIR) / "docs/formats.md");
  const auto blocks = test::fenced_blocks(document, "text");
  ASSERT_EQ(blocks.size(), 1U);
  const Profile profile = parse_profile(blocks[0], "docs/formats.md");
  EXPECT_EQ(names_of(profile), "node1 node2 node3 node4 ");
  EXPECT_EQ(profile.graph.layers()[3].inputs.size(), 2U);
  EXPECT_EQ(profile.graph.values()[2].bytes.count, 6'553'600);
  EXPECT_EQ(profile.input, Nanos(400'000));
}

}  // namespace
}  // namespace pipedream::profile
