#include "data/text.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "data/networks_testing.h"

namespace pipedream::data {
namespace {

using test::message_of;
using test::TemporaryFolder;

using Samples = std::vector<std::int64_t>;

class Text : public testing::Test {
 protected:
  // Writes `text` to a file and returns its path.
  std::filesystem::path file(const std::string& text) {
    write_file_atomically(folder_.path() / "text", text);
    return folder_.path() / "text";
  }
  // A language model that reads `tokens` tokens per sample.
  static model::Network windows_of(int tokens, int vocabulary = 31) {
    return small_network(
        "gpt", {{"context", std::to_string(tokens)}, {"vocabulary", std::to_string(vocabulary)}});
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Text, LabelsAreTheTokensOneFurtherOn) {
  const auto network = windows_of(2);
  // 40 characters; the last 4 are held out. Their tokens: a is 0, b is 1, c is 2, d is 3.
  const Data data = open_text(file("dabc" + std::string(32, 'a') + "abcd"), network);
  EXPECT_EQ(data.training->samples(), 17);  // not 18: the last label would be character 37
  EXPECT_EQ(data.held_out->samples(), 1);
  const auto tokens = data.training->load(input_of(network, "tokens"), Samples{1, 0});
  const auto labels = data.training->load(input_of(network, "labels"), Samples{1, 0});
  EXPECT_TRUE(at::equal(tokens, at::tensor({1, 2, 3, 0}, at::kLong).view({2, 2})));
  EXPECT_TRUE(at::equal(labels, at::tensor({2, 0, 0, 1}, at::kLong).view({2, 2})));
  const auto held_out = data.held_out->load(input_of(network, "labels"), Samples{0});
  EXPECT_TRUE(at::equal(held_out, at::tensor({1, 2}, at::kLong).view({1, 2})));
}

TEST_F(Text, SaysWhichVocabularyIsNeeded) {
  const auto path = file("abcde" + std::string(100, 'a'));
  EXPECT_EQ(message_of<CannotMeet>([&] { (void)open_text(path, windows_of(2, 4)); }),
            "the network knows 4 tokens, " + path.string() +
                " has 5 different characters: give it `vocabulary` 5 or more");
}

TEST_F(Text, RefusesAFileTooShortForASample) {
  const auto path = file(std::string(80, 'a'));
  (void)open_text(path, windows_of(7));
  EXPECT_EQ(message_of<CannotMeet>([&] { (void)open_text(path, windows_of(8)); }),
            "the held-out end of " + path.string() +
                " has 8 characters, one sample of the network takes 8 and its next one: choose a "
                "longer file, shorter samples or another share to hold out");
}

TEST_F(Text, HoldsOutAsMuchAsItIsTold) {
  const auto path = file(std::string(100, 'a'));
  const Data data = open_text(path, windows_of(4), 0.5);
  EXPECT_EQ(data.training->samples(), 12);
  EXPECT_EQ(data.held_out->samples(), 12);
  EXPECT_EQ(open_text(path, windows_of(4), 0).training->samples(), 24);
  EXPECT_NE(message_of<CannotMeet>([&] {
              (void)open_text(path, windows_of(20), 0.85);
            }).find("to train on has 15 characters"),
            std::string::npos);
}

TEST_F(Text, IsForLanguageModels) {
  EXPECT_NE(message_of<CannotMeet>([&] { (void)open_text(file("a"), small_network("mlp")); })
                .find("text is for language models; 'mlp' reads features [4, 12], labels [4] "
                      "below 5"),
            std::string::npos);
}

TEST_F(Text, HasEveryByte) {
  std::string all;
  for (int i = 0; i < 4096; ++i) all += static_cast<char>(i);
  const auto network = windows_of(256, 256);
  const Data data = open_text(file(all), network);
  const auto tokens = data.training->load(input_of(network, "tokens"), Samples{0});
  EXPECT_TRUE(at::equal(tokens[0], at::arange(256)));
}

TEST_F(Text, OfATokeniserHasTheTokensOfTheVocabulary) {
  // "ab" is a token; "xy" is only in the held-out half.
  std::string all;
  for (int i = 0; i < 8; ++i) all += "ab\n";
  for (int i = 0; i < 8; ++i) all += "xy\n";
  const auto network = windows_of(2, 300);
  const Data data = open_text(file(all), network, 0.5, "bpe:300");
  ASSERT_NE(data.vocabulary, nullptr);
  EXPECT_EQ(data.vocabulary->size(), 260U);
  EXPECT_EQ(data.training->samples(), 7);   // 16 tokens
  EXPECT_EQ(data.held_out->samples(), 11);  // 24 tokens
  const auto labels = data.training->load(input_of(network, "labels"), Samples{0});
  EXPECT_TRUE(at::equal(labels, at::tensor({'\n' + 3, 259}, at::kLong).view({1, 2})));
  EXPECT_FALSE(data.has_padding);

  const test::TemporaryFolder folder;
  const auto saved = folder.path() / "vocabulary.json";
  write_file_atomically(saved, data.facts.at("vocabulary"));
  const Data again = open_text(file(all), network, 0.5, saved.string());
  EXPECT_EQ(*again.vocabulary, *data.vocabulary);
}

TEST_F(Text, RefusesATokeniserThatDoesNotFit) {
  std::string all;
  for (int i = 0; i < 100; ++i) all += "abcdefgh ";
  const auto path = file(all);
  EXPECT_EQ(
      message_of<CannotMeet>([&] { (void)open_text(path, windows_of(2, 262), 0, "bpe:300"); }),
      "the network knows 262 tokens, the vocabulary bpe:300 has 267: give it `vocabulary` "
      "267 or more");
  for (const std::string bad : {"bpe:", "bpe:258", "bpe:8k", "bpe:1000001", "bpe:-1"})
    EXPECT_EQ(
        message_of<BadUsage>([&] { (void)open_text(path, windows_of(2, 300), 0, bad); }),
        "`tokeniser` " + bad + ": wanted a number of tokens from 259 to 1000000, as in bpe:8000");
  EXPECT_NE(message_of<BadUsage>([&] {
              (void)open_data("synthetic", windows_of(2), {.tokeniser = "bpe:300"});
            }).find("`tokeniser` is for text:FILE, tokens:FILE and pairs:FILE,FILE"),
            std::string::npos);
}

}  // namespace
}  // namespace pipedream::data
