#include "data/tokens.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "data/networks_testing.h"
#include "text/vocabulary_file.h"

namespace pipedream::data {
namespace {

using test::message_of;

// The content of a file with the tokens 0, 1, … modulo `modulus`.
template <class Token>
std::string counting(int count, int modulus) {
  std::string content;
  for (int i = 0; i < count; ++i)
    for (std::size_t byte = 0; byte < sizeof(Token); ++byte)
      content += static_cast<char>((i % modulus) >> (8 * byte));
  return content;
}

class Tokens : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& content) {
    write_file_atomically(folder_.path() / name, content);
    return folder_.path() / name;
  }
  static model::Network windows_of(int tokens, int vocabulary) {
    return small_network(
        "gpt", {{"context", std::to_string(tokens)}, {"vocabulary", std::to_string(vocabulary)}});
  }
  static std::vector<std::int64_t> values(const model::Network& network, const DataSet& data,
                                          const char* input, std::int64_t sample) {
    const std::vector<std::int64_t> one{sample};
    const at::Tensor loaded = data.load(input_of(network, input), one);
    return {loaded.data_ptr<std::int64_t>(), loaded.data_ptr<std::int64_t>() + loaded.numel()};
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(Tokens, AreOfTwoBytesOrFour) {
  const auto network = windows_of(3, 1000);
  using Values = std::vector<std::int64_t>;
  for (const auto& path : {file("a.bin", counting<std::uint16_t>(1000, 700)),
                           file("a.u32", counting<std::uint32_t>(1000, 700))}) {
    const Data data = open_tokens({path}, network);
    EXPECT_EQ(data.training->samples(), 899 / 3);
    EXPECT_EQ(data.held_out->samples(), 99 / 3);
    EXPECT_EQ(values(network, *data.training, "tokens", 100), (Values{300, 301, 302}));
    EXPECT_EQ(values(network, *data.training, "labels", 233), (Values{0, 1, 2}));
    EXPECT_EQ(values(network, *data.held_out, "tokens", 0), (Values{200, 201, 202}));
  }
}

TEST_F(Tokens, OfTheSecondFileAreHeldOut) {
  const auto network = windows_of(3, 10);
  const auto training = file("train.bin", counting<std::uint16_t>(31, 10));
  const auto held_out = file("val.bin", counting<std::uint16_t>(7, 5));
  const Data data = open_tokens({training, held_out}, network);
  EXPECT_EQ(data.training->samples(), 10);
  EXPECT_EQ(data.held_out->samples(), 2);
  EXPECT_THROW((void)open_tokens({training, held_out}, network, 0.5), BadUsage);
  EXPECT_THROW((void)open_tokens({training, held_out, held_out}, network), BadUsage);
  EXPECT_EQ(open_tokens({training}, network, 0).training->samples(), 10);
}

TEST_F(Tokens, ThatCannotBeReadAreNamed) {
  const auto network = windows_of(3, 10);
  const auto odd = file("odd.bin", counting<std::uint16_t>(31, 10) + "x");
  EXPECT_EQ(message_of<BadFile>([&] { (void)open_tokens({odd}, network); }),
            odd.string() + ": byte 62: wanted whole tokens of 2 bytes, found 63 bytes in all");
  const auto high = file("high.bin", counting<std::uint16_t>(31, 12));
  EXPECT_EQ(message_of<CannotMeet>([&] { (void)open_tokens({high}, network); }),
            "the network knows 10 tokens, " + high.string() +
                " has token 11 at byte 22: give it `vocabulary` 12 or more");
  const auto brief = file("short.bin", counting<std::uint16_t>(3, 3));
  EXPECT_NE(message_of<CannotMeet>([&] {
              (void)open_tokens({brief}, network);
            }).find("has 0 tokens, one sample of the network takes 3 and its next one"),
            std::string::npos);
  EXPECT_NE(message_of<CannotMeet>([&] {
              (void)open_tokens({brief}, small_network("mlp"));
            }).find("token files are for language models"),
            std::string::npos);
  EXPECT_THROW((void)open_tokens({odd.parent_path() / "none.bin"}, network), IoError);
}

// The weights then say which text the tokens stand for.
TEST_F(Tokens, KeepTheVocabularyThatMadeThem) {
  const auto network = windows_of(3, 300);
  const std::string spec = "tokens:" + file("v.bin", counting<std::uint16_t>(1000, 259)).string();
  const std::string vocabulary =
      file("v.json", text::to_json(text::Vocabulary({{100, 101}}))).string();
  const Data data = open_data(spec, network, {.tokeniser = vocabulary});
  ASSERT_NE(data.vocabulary, nullptr);
  EXPECT_EQ(data.facts.at("vocabulary"), text::to_json(*data.vocabulary));
  EXPECT_EQ(open_data(spec, network, {.earlier = data.facts}).facts, data.facts);
  EXPECT_EQ(open_data(spec, network).vocabulary, nullptr);
  EXPECT_NE(message_of<BadUsage>([&] {
              (void)open_data(spec, network, {.tokeniser = "bpe:300"});
            }).find("wanted the file of the vocabulary that made the tokens, found bpe:300"),
            std::string::npos);
}

}  // namespace
}  // namespace pipedream::data
