#include "data/pairs.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "data/networks_testing.h"
#include "text/vocabulary_file.h"

namespace pipedream::data {
namespace {

using test::message_of;

class Pairs : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& content) {
    write_file_atomically(folder_.path() / name, content);
    return folder_.path() / name;
  }
  // Sentences of up to five tokens, and the one that is added.
  static model::Network network(const std::string& vocabulary = "300") {
    return small_network("gnmt8", {{"length", "6"}, {"vocabulary", vocabulary}});
  }
  // The file of a vocabulary without merges: its tokens are bytes.
  std::string bytes() { return file("bytes.json", text::to_json(text::Vocabulary())).string(); }

 private:
  test::TemporaryFolder folder_;
};

// The tokens of bytes, with others around them.
at::Tensor row(std::vector<std::int64_t> tokens) { return at::tensor(tokens, at::kLong); }
std::int64_t of(char c) { return text::kFirstByte + static_cast<unsigned char>(c); }

TEST_F(Pairs, PadWhatTheNetworkReadsAndIgnoreItInTheLabels) {
  const auto net = network();
  const auto source = file("a", "ab\nc\n");
  const auto target = file("b", "x\r\nyz\r\n");
  const Data data = open_pairs({source, target}, net, 0.5, bytes());
  ASSERT_EQ(data.training->samples(), 1);
  ASSERT_EQ(data.held_out->samples(), 1);
  EXPECT_TRUE(data.has_padding);
  const std::vector<std::int64_t> first{0};
  const auto loaded = [&](const DataSet& set, const std::string& input) {
    return set.load(input_of(net, input), first)[0];
  };
  EXPECT_TRUE(at::equal(loaded(*data.training, "source"), row({of('a'), of('b'), 2, 0, 0, 0})));
  EXPECT_TRUE(at::equal(loaded(*data.training, "target"), row({1, of('x'), 0, 0, 0, 0})));
  EXPECT_TRUE(
      at::equal(loaded(*data.training, "labels"), row({of('x'), 2, -100, -100, -100, -100})));
  EXPECT_TRUE(at::equal(loaded(*data.held_out, "target"), row({1, of('y'), of('z'), 0, 0, 0})));
}

TEST_F(Pairs, LearnOneVocabularyFromBothSidesOfTheLinesToTrainOn) {
  const auto source = file("a", "qr\nqr\nst\nst\n");
  const auto target = file("b", "uv\nuv\nst\nst\n");
  const Data data = open_pairs({source, target}, network(), 0.5);
  EXPECT_EQ(data.vocabulary->merges(),
            (std::vector<text::Merge>{
                {static_cast<text::Token>(of('q')), static_cast<text::Token>(of('r'))},
                {static_cast<text::Token>(of('u')), static_cast<text::Token>(of('v'))}}));
  EXPECT_EQ(text::parse_vocabulary(data.facts.at("vocabulary"), "facts"), *data.vocabulary);
}

TEST_F(Pairs, LeaveOutWhatDoesNotFit) {
  const auto source = file("a", "12345\n123456\n1\n\n2\n");
  const auto target = file("b", "1\n1\n123456\n1\n12345\n");
  const Data data = open_pairs({source, target}, network(), 0, bytes());
  EXPECT_EQ(data.training->samples(), 2);
  const auto none = file("c", "123456\n");
  EXPECT_EQ(message_of<CannotMeet>([&] {
              (void)open_pairs({none, file("d", "1\n")}, network(), 0, bytes());
            }),
            none.string() + " and " + none.parent_path().string() +
                "/d: pairs to train on: 1, left out: 1 (longer than 5 tokens, or than 5 in the "
                "translation: 1; with an empty line: 0): choose a longer `length`, or other data");
}

TEST_F(Pairs, HoldOutASecondPairIfThereIsOne) {
  const auto a = file("a", "1\n2\n3\n");
  const auto b = file("b", "4\n5\n6\n");
  const auto c = file("c", "7\n");
  const Data data = open_pairs({a, b, c, c}, network(), std::nullopt, bytes());
  EXPECT_EQ(data.training->samples(), 3);
  EXPECT_EQ(data.held_out->samples(), 1);
  EXPECT_NE(message_of<BadUsage>([&] {
              (void)open_pairs({a, b, c, c}, network(), 0.2, bytes());
            }).find("held-out samples of its own"),
            std::string::npos);
}

TEST_F(Pairs, RefuseFilesThatDoNotBelongTogether) {
  const auto a = file("a", "1\n2\n3");
  const auto b = file("b", "4\n");
  EXPECT_EQ(message_of<BadFile>([&] {
              (void)open_pairs({a, b}, network());
            }),
            a.string() + " has 3 lines, and " + b.string() +
                " has 1 line: wanted as many, each line the translation of the other file's");
  EXPECT_NE(message_of<BadUsage>([&] {
              (void)open_pairs({a}, network());
            }).find("write pairs:SOURCE,TRANSLATION"),
            std::string::npos);
  EXPECT_NE(message_of<CannotMeet>([&] {
              (void)open_pairs({a, a}, small_network("mlp"));
            }).find("pairs are for networks that translate; 'mlp' reads"),
            std::string::npos);
}

TEST_F(Pairs, NeedANetworkThatKnowsAllBytes) {
  const auto a = file("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
  EXPECT_EQ(message_of<CannotMeet>([&] {
              (void)open_pairs({a, a}, network("258"));
            }),
            "the network knows 258 tokens, one for each byte and three special ones are 259: give "
            "it `vocabulary` 259 or more");
}

}  // namespace
}  // namespace pipedream::data
