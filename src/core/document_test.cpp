#include "core/document.h"

#include <chrono>
#include <cstdio>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream {
namespace {

using test::message_of;

// Returns the message of the BadFile that `read` throws for the value of {"a": `value`}.
template <class Read>
std::string refused_value(const std::string& value, Read read) {
  const Node root = parse_json("{\"a\": " + value + "}", "f.json");
  return message_of<BadFile>([&] { (void)read(root.at("a")); });
}

TEST(Document, GivesBackEveryKindOfValueFromJson) {
  const Node root = parse_json(
      R"({"t": "häß", "b": true, "i": -3, "n": 2.5, "s": 0.25, "c": 9007199254740992,
          "list": [1, 2], "size": "16GiB", "speed": "10Gbit/s", "time": "20us"})",
      "f.json");
  EXPECT_EQ(root.at("t").text(), "häß");
  EXPECT_TRUE(root.at("b").boolean());
  EXPECT_EQ(root.at("i").integer(-3, -3), -3);
  EXPECT_EQ(root.at("n").number(0, 2.5), 2.5);
  EXPECT_EQ(root.at("i").number(-5, 0), -3);
  EXPECT_EQ(root.at("s").seconds(), Nanos(250'000'000));
  EXPECT_EQ(root.at("c").byte_count().count, 9'007'199'254'740'992);
  EXPECT_EQ(root.at("list").elements().at(1).integer(0, 9), 2);
  EXPECT_EQ(root.at("size").written_bytes().count, 17'179'869'184);
  EXPECT_EQ(root.at("speed").written_bandwidth().bytes_per_second, 1.25e9);
  EXPECT_EQ(root.at("time").written_duration(), Nanos(20'000));
  EXPECT_FALSE(root.find("none").has_value());
}

TEST(Document, GivesBackTheSameFromToml) {
  const Node root =
      parse_toml("t = 'x'\nb = false\ni = 7\nn = 1.5\n[[row]]\nq = [[1], [2, 3]]\n", "f.toml");
  EXPECT_EQ(root.at("t").text(), "x");
  EXPECT_FALSE(root.at("b").boolean());
  EXPECT_EQ(root.at("i").integer(0, 9), 7);
  EXPECT_EQ(root.at("n").number(0, 9), 1.5);
  const Node q = root.at("row").elements().at(0).at("q");
  EXPECT_EQ(q.elements().at(1).elements().at(1).integer(0, 9), 3);
}

TEST(Document, ANodeKeepsItsDocumentAlive) {
  const Node value = parse_json(R"({"a": [{"b": "still here"}]})", "f").at("a").elements().at(0);
  EXPECT_EQ(value.at("b").text(), "still here");
}

TEST(Document, EachAccessorNamesFilePlaceWantedAndFound) {
  EXPECT_EQ(refused_value("3", [](const Node& n) { return n.text(); }),
            "f.json: a: wanted a string, found 3");
  EXPECT_EQ(refused_value("\"yes\"", [](const Node& n) { return n.boolean(); }),
            "f.json: a: wanted true or false, found \"yes\"");
  EXPECT_EQ(refused_value("true", [](const Node& n) { return n.integer(0, 9); }),
            "f.json: a: wanted a whole number from 0 to 9, found true");
  EXPECT_EQ(refused_value("null", [](const Node& n) { return n.number(0, 1.5); }),
            "f.json: a: wanted a number from 0 to 1.5, found null");
  EXPECT_EQ(refused_value("{}", [](const Node& n) { return n.elements(); }),
            "f.json: a: wanted a list, found an object");
  EXPECT_EQ(refused_value("[]", [](const Node& n) { return n.at("b"); }),
            "f.json: a: wanted an object, found a list");
  EXPECT_EQ(refused_value("1", [](const Node& n) { return n.find("b"); }),
            "f.json: a: wanted an object, found 1");
  EXPECT_EQ(refused_value("{}", [](const Node& n) { return n.at("b"); }),
            "f.json: a: the key 'b' is missing");
  EXPECT_EQ(refused_value("-1", [](const Node& n) { return n.seconds(); }),
            "f.json: a: wanted a number from 0 to 1000000, found -1");
  EXPECT_EQ(refused_value("-1", [](const Node& n) { return n.byte_count(); }),
            "f.json: a: wanted a whole number from 0 to 9007199254740992, found -1");
  EXPECT_EQ(refused_value("5", [](const Node& n) { return n.written_bytes(); }),
            "f.json: a: wanted a string, found 5");
}

TEST(Document, WrittenUnitsKeepTheirOwnMessageBehindThePlace) {
  const auto starts = [](const std::string& text, const std::string& head) {
    return text.substr(0, head.size());
  };
  std::string head = "f.json: a: wanted a size such as \"16GiB\", found \"5\": the unit is missing";
  EXPECT_EQ(starts(refused_value("\"5\"", [](const Node& n) { return n.written_bytes(); }), head),
            head);
  head = "f.json: a: wanted a speed such as \"10Gbit/s\", found \"5\": the unit is missing";
  EXPECT_EQ(
      starts(refused_value("\"5\"", [](const Node& n) { return n.written_bandwidth(); }), head),
      head);
  head = "f.json: a: wanted a time such as \"20us\", found \"5\": the unit is missing";
  EXPECT_EQ(
      starts(refused_value("\"5\"", [](const Node& n) { return n.written_duration(); }), head),
      head);
}

TEST(Document, PlacesAreWrittenAsPaths) {
  const Node root = parse_json(R"({"level": [{}, {"count": "two"}]})", "f.json");
  const Node count = root.at("level").elements().at(1).at("count");
  EXPECT_EQ(message_of<BadFile>([&] { (void)count.integer(1, 9); }),
            "f.json: level[1].count: wanted a whole number from 1 to 9, found \"two\"");
}

TEST(Document, TomlPlacesAlsoHaveALine) {
  const Node root = parse_toml("# first\n[[level]]\ncount = 'two'\n", "f.toml");
  const Node level = root.at("level").elements().at(0);
  EXPECT_EQ(message_of<BadFile>([&] { (void)level.at("count").integer(1, 9); }),
            "f.toml:3: level[0].count: wanted a whole number from 1 to 9, found \"two\"");
  EXPECT_EQ(message_of<BadFile>([&] { (void)level.at("name"); }),
            "f.toml:2: level[0]: the key 'name' is missing");
}

TEST(Document, NumbersThatAreNotOnesAreRefused) {
  const auto integer = [](const Node& n) { return n.integer(INT64_MIN, INT64_MAX); };
  const auto number = [](const Node& n) { return n.number(-1, 1); };
  EXPECT_NE(refused_value("9223372036854775808", integer).find("found 9223372036854775808"),
            std::string::npos);
  EXPECT_NE(refused_value("1.0", integer).find("found 1.0"), std::string::npos);
  EXPECT_NE(refused_value("1e300", number).find("found 1e+300"), std::string::npos);
  const Node toml = parse_toml("a = nan\nb = -inf\nc = 1979-05-27\n", "f.toml");
  EXPECT_EQ(message_of<BadFile>([&] { (void)toml.at("a").number(0, 1); }),
            "f.toml:1: a: wanted a number from 0 to 1, found nan");
  EXPECT_EQ(message_of<BadFile>([&] { (void)toml.at("b").number(0, 1); }),
            "f.toml:2: b: wanted a number from 0 to 1, found -inf");
  EXPECT_EQ(message_of<BadFile>([&] { (void)toml.at("c").text(); }),
            "f.toml:3: c: wanted a string, found null");
}

TEST(Document, NumbersThatOverflowAreRefusedByTheParsers) {
  EXPECT_EQ(message_of<BadFile>([] { (void)parse_json("[1e999]", "f.json"); }),
            "f.json: not JSON: number overflow parsing '1e999'");
  EXPECT_EQ(message_of<BadFile>([] { (void)parse_json("[NaN]", "f.json"); }),
            "f.json: not JSON: parse error at line 1, column 2: syntax error while parsing value - "
            "invalid literal; last read: '[N'");
  const auto toml = message_of<BadFile>([] { (void)parse_toml("\na = 9223372036854775808", "f"); });
  EXPECT_EQ(toml.find("f:2: not TOML: "), 0U) << toml;
}

TEST(Document, ControlCharactersAreRefusedInStringsAndCleanedInMessages) {
  const auto text = [](const Node& n) { return n.text(); };
  for (const char* value : {R"("a\nb")", R"("\u0000")", R"("\u007f")"})
    EXPECT_EQ(refused_value(value, text), "f.json: a: wanted a string without control characters");
  const Node root = parse_json(R"({"a\nb": 1})", "f.json");
  EXPECT_EQ(message_of<BadFile>([&] { root.expect_keys({"x"}); }),
            "f.json: a?b: unknown key (known: x)");
}

TEST(Document, LongValuesAreCutInMessages) {
  EXPECT_EQ(refused_value('"' + std::string(1'000'000, 'x') + '"',
                          [](const Node& n) { return n.boolean(); }),
            "f.json: a: wanted true or false, found \"" + std::string(59, 'x') + "…");
}

TEST(Document, AnUnknownKeyIsRefusedWithTheNearestKnownOne) {
  const Node root = parse_toml("name = 'x'\nbandwith = 1\n", "f.toml");
  EXPECT_EQ(message_of<BadFile>([&] {
              root.expect_keys({"name", "bandwidth"});
            }),
            "f.toml:2: bandwith: unknown key (did you mean 'bandwidth'?)");
  EXPECT_EQ(message_of<BadFile>([&] {
              root.expect_keys({"name", "count"});
            }),
            "f.toml:2: bandwith: unknown key (known: name, count)");
  EXPECT_NO_THROW(root.expect_keys({"name", "bandwith", "more"}));
  EXPECT_EQ(message_of<BadFile>([&] { root.at("name").expect_keys({"a"}); }),
            "f.toml:1: name: wanted an object, found \"x\"");
}

TEST(Document, AKeyGivenTwiceIsRefused) {
  EXPECT_EQ(message_of<BadFile>([] { (void)parse_json(R"({"a": {"b": 1, "b": 1}})", "f.json"); }),
            "f.json: the key 'b' is given twice");
  EXPECT_EQ(message_of<BadFile>([] { (void)parse_json(R"({"x\ny": 1, "x\ny": 1})", "f.json"); }),
            "f.json: the key 'x?y' is given twice");
  EXPECT_NO_THROW((void)parse_json(R"({"a": {"b": 1}, "b": [{"b": 1}, {"b": 1}]})", "f.json"));
  const auto toml = message_of<BadFile>([] { (void)parse_toml("a = 1\na = 2\n", "f.toml"); });
  EXPECT_EQ(toml.find("f.toml:2: not TOML: "), 0U) << toml;
}

TEST(Document, WhatFollowsTheDocumentIsRefused) {
  const auto message = message_of<BadFile>([] { (void)parse_json("{} {}", "f.json"); });
  EXPECT_EQ(message.find("f.json: not JSON: parse error at line 1, column 4: "), 0U) << message;
}

TEST(Document, BytesThatAreNotUtf8AreRefused) {
  const auto json = message_of<BadFile>([] { (void)parse_json("[\"\xff\"]", "f.json"); });
  EXPECT_EQ(json.find("f.json: not JSON: parse error at line 1, column 3: "), 0U) << json;
  const auto toml = message_of<BadFile>([] { (void)parse_toml("a = \"\xff\"", "f.toml"); });
  EXPECT_EQ(toml.find("f.toml:1: not TOML: "), 0U) << toml;
}

TEST(Document, TheFormatAndItsVersionMustBeTheWantedOnes) {
  const auto refused = [](const std::string& content) {
    const Node root = parse_json(content, "f.json");
    return message_of<BadFile>([&] { root.expect_format("pipedream-plan", 1); });
  };
  EXPECT_EQ(refused("[]"), "f.json: wanted an object, found a list");
  EXPECT_EQ(refused("{}"), "f.json: the key 'format' is missing");
  EXPECT_EQ(refused(R"({"format": "pipedream-profile", "version": 1})"),
            "f.json: format: wanted \"pipedream-plan\", found \"pipedream-profile\": is this the "
            "right file?");
  EXPECT_EQ(refused(R"({"format": "pipedream-plan"})"), "f.json: the key 'version' is missing");
  EXPECT_EQ(refused(R"({"format": "pipedream-plan", "version": 2})"),
            "f.json: version: this program reads version 1, found 2");
  EXPECT_EQ(refused(R"({"format": "pipedream-plan", "version": "1"})"),
            "f.json: version: wanted a whole number from 0 to 9223372036854775807, found \"1\"");
  const Node good = parse_json(R"({"format": "pipedream-plan", "version": 1})", "f.json");
  EXPECT_NO_THROW(good.expect_format("pipedream-plan", 1));
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  text.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

TEST(Nesting, SixtyFourLevelsAreReadAndMoreAreRefused) {
  EXPECT_NO_THROW((void)parse_json(repeated("[", 64) + repeated("]", 64), "f.json"));
  EXPECT_EQ(message_of<BadFile>(
                [] { (void)parse_json(repeated("[", 65) + repeated("]", 65), "f.json"); }),
            "f.json: nested deeper than 64 levels");
  EXPECT_NO_THROW((void)parse_toml("a = " + repeated("[", 64) + repeated("]", 64), "f.toml"));
  EXPECT_EQ(message_of<BadFile>(
                [] { (void)parse_toml("a = " + repeated("[", 65) + repeated("]", 65), "f.toml"); }),
            "f.toml: nested deeper than 64 levels");
}

TEST(Nesting, TomlCountsDotsOfKeysAndHeadersAndInlineTablesTogether) {
  const auto refused = [](const std::string& content) {
    EXPECT_EQ(message_of<BadFile>([&] { (void)parse_toml(content, "f.toml"); }),
              "f.toml: nested deeper than 64 levels")
        << content;
  };
  refused(repeated("a.", 65) + "a = 1");
  refused("[" + repeated("a.", 64) + "a]");
  refused("[[" + repeated("a.", 64) + "a]]");
  refused("[" + repeated("a.", 32) + "a]\n# a comment\n" + repeated("a.", 32) + "a = 1");
  refused("a = {b = {" + repeated("a.", 32) + "a = {" + repeated("'a'.", 32) + "a = 1}}}");
}

TEST(Nesting, TomlDoesNotMistakeDotsInValuesStringsAndCommentsForDepth) {
  const std::string dots(1000, '.');
  for (const std::string& content : {
           "# " + dots + "\na = 1 # [[" + dots,
           "a = \"" + dots + "\\\"" + dots + "\" # " + dots,
           "a = '" + dots + "\\'",
           "a = \"\"\"" + dots + "\n\"\" \\\"\"\"" + dots + "\"\"\"\"\"",
           "a = '''\n" + dots + "'" + dots + "'''",
           "\"" + dots + "\".'" + dots + "' = ''",
           "a = [" + repeated("1.5, ", 1000) + "2.5]",
           "a = [\n" + repeated("{b.c = [1.5, {}]},\n", 1000) + "]",
           repeated("[[a.b]]\nc.d = 1.5\n[a.b.e]\nf = 1\n", 1000),
       })
    EXPECT_NO_THROW((void)parse_toml(content, "f.toml")) << content.substr(0, 80);
}

// Ten megabytes of brackets or dots must neither overflow the stack nor take long.
TEST(Nesting, TenMegabytesOfOpenBracketsAreRefusedAtOnce) {
  std::chrono::duration<double> took{0};  // time in the parsers
  const auto refused = [&](auto parse, std::string content) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(message_of<BadFile>([&] { (void)parse(std::move(content), "f"); }),
              "f: nested deeper than 64 levels");
    took += std::chrono::steady_clock::now() - begin;
  };
  const auto toml = [](const std::string& content, const std::string& file) {
    return parse_toml(content, file);
  };
  refused(parse_json, std::string(10'000'000, '['));
  refused(parse_json, repeated("{\"a\":", 2'000'000));
  refused(toml, std::string(10'000'000, '['));
  refused(toml, "a = " + std::string(10'000'000, '['));
  refused(toml, repeated("a.", 5'000'000));
  std::printf("five deep documents of 10 MB: %.3f s\n", took.count());
}

}  // namespace
}  // namespace pipedream
