#include "generate/codec.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "core/text.h"
#include "text/vocabulary_file.h"

namespace pipedream::generate {
namespace {

TEST(Codec, ReadsTheBytesThatOccurredInTheText) {
  const Codec codec({{"data.tokens", to_hex("\n abz")}});
  EXPECT_EQ(codec.tokens(), 5);
  EXPECT_FALSE(codec.has_special());
  EXPECT_EQ(codec.usual_beginning(), "\n");
  EXPECT_EQ(
      Codec(std::map<std::string, std::string>{{"data.tokens", to_hex("xy")}}).usual_beginning(),
      "x");
  EXPECT_EQ(codec.writable().count, 5);
  EXPECT_EQ(codec.encode("zab\n"), (Words{4, 2, 3, 0}));
  EXPECT_EQ(codec.decode({4, 2, 9, 3, 0}), "zab\n") << "token 9 stands for nothing";
  EXPECT_EQ(test::message_of<CannotMeet>([&] { (void)codec.encode("c"); }),
            "the text that was trained on has no 'c': leave it out of the prompt");
  EXPECT_EQ(test::message_of<CannotMeet>([&] { (void)codec.encode("\xc3\xa9"); }),
            "the text that was trained on has no byte 0xc3: leave it out of the prompt");
}

TEST(Codec, ReadsAVocabulary) {
  const std::string_view text = "aa ab aa ab aa ab";
  const text::Vocabulary vocabulary = text::learn_vocabulary(std::span(&text, 1), 262);
  const Codec codec({{"data.vocabulary", text::to_json(vocabulary)}, {"model", "gpt"}});
  EXPECT_TRUE(codec.has_special());
  EXPECT_EQ(codec.writable().first, text::kFirstByte);
  EXPECT_EQ(codec.writable().first + codec.writable().count, codec.tokens());
  EXPECT_EQ(codec.tokens(), static_cast<std::int64_t>(vocabulary.size()));
  EXPECT_EQ(codec.decode(codec.encode("abba \xff")), "abba \xff");
  Words words = codec.encode("ab");
  words.insert(words.begin(), text::kBeginning);
  words.push_back(text::kEnd);
  EXPECT_EQ(codec.decode(words), "ab");
}

using Metadata = std::map<std::string, std::string>;

TEST(Codec, RefusesWeightsWithoutTextAndBadTables) {
  EXPECT_THROW(Codec(Metadata{{"model", "gpt"}}), CannotMeet);
  EXPECT_THROW(Codec(Metadata{{"data.tokens", "0"}}), BadFile);
  EXPECT_THROW(Codec(Metadata{{"data.tokens", ""}}), BadFile);
  EXPECT_THROW(Codec(Metadata{{"data.vocabulary", "{}"}}), BadFile);
}

}  // namespace
}  // namespace pipedream::generate
