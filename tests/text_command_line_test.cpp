// Training on text and on translated sentences, as users ask for it (docs/runtime.md#text).
#include <cmath>
#include <fstream>

#include "train_command_line_testing.h"

namespace pipedream {
namespace {

namespace fs = std::filesystem;

// Sentences of a small language; its words follow each other in one order.
std::string sentences(const std::vector<std::string>& words, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k <= i % 3; ++k)
      text += (k == 0 ? "" : " ") + words[static_cast<std::size_t>(i + k) % words.size()];
    text += "\n";
  }
  return text;
}

std::string english() { return sentences({"one", "two", "three", "four"}, 320); }
std::string german() { return sentences({"eins", "zwei", "drei", "vier"}, 320); }

// The held-out losses of a run, in order.
std::vector<double> losses_of(const fs::path& run) {
  std::vector<double> losses;
  std::ifstream file(run / "metrics.jsonl");
  for (std::string line; std::getline(file, line);)
    if (const auto json = nlohmann::json::parse(line); json.contains("held_out_loss"))
      losses.push_back(json.at("held_out_loss"));
  return losses;
}

const std::string kGnmt =
    "train --model gnmt8 --hidden 32 --vocabulary 340 --length 6 --dropout 0 --batch 16 "
    "--optimiser adam --lr 0.005 --profile-seconds 0.2 ";
const std::string kGpt =
    "train --model gpt --hidden 16 --layers 2 --heads 2 --context 8 --vocabulary 280 --dropout 0 "
    "--batch 8 --system pipedream --workers 1 --profile-seconds 0.2 --seed 1 ";

std::string pairs() {
  return "pairs:" + write("english", english()) + "," + write("german", german());
}

TEST(Pairs, AreLearnedAndEvaluated) {
  const fs::path run = scratch("translated");
  const Answer trained = call(kGnmt +
                              "--system gpipe --workers 2 --microbatches 2 --epochs 20 "
                              "--held-out 0.2 --data " +
                              pairs() + " --json --out " + run.string());
  const auto result = json_of(trained);
  const std::vector<double> losses = losses_of(run);
  ASSERT_EQ(losses.size(), 20u);
  EXPECT_LT(losses.back(), 0.6 * losses[0]);
  // Every word is one token. Of the six positions of a sentence, padding is no prediction.
  double tokens = 0;
  for (int i = 256; i < 320; ++i) tokens += i % 3 + 2;  // the words and the end
  EXPECT_NEAR(result.at("perplexity").get<double>(), std::exp(losses.back() * 64 * 6 / tokens),
              1e-6);

  const auto score = json_of(call("evaluate " + run.string() + " --json"));
  EXPECT_NEAR(score.at("loss").get<double>(), losses.back(), 1e-5);
  EXPECT_NEAR(score.at("perplexity").get<double>(), result.at("perplexity").get<double>(), 1e-3);
}

TEST(Pairs, AreTranslatedAndScoredWithBleu) {
  std::string source;
  std::string target;
  for (int i = 0; i < 60; ++i) {
    source += i % 2 == 0 ? "a b c d e\n" : "p q r s t\n";
    target += i % 2 == 0 ? "v w x y z\n" : "k l m n o\n";
  }
  const fs::path run = scratch("translates");
  const Answer trained = call(
      "train --model gnmt8 --hidden 32 --vocabulary 290 --length 8 --dropout 0 --batch 6 "
      "--optimiser adam --lr 0.01 --profile-seconds 0.2 --system mp --workers 1 --epochs 40 "
      "--evaluate-every 100 --data pairs:" +
      write("source", source) + "," + write("target", target) + " --out " + run.string());
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_GT(json_of(call("evaluate " + run.string() + " --bleu --json")).at("bleu"), 99);
  const std::string translate = "generate " + run.string();
  EXPECT_EQ(call(translate + " --prompt 'a b c d e'").out, "v w x y z\n");
  const std::string lines = write("lines", "p q r s t\r\n\na b c d e\n");
  EXPECT_EQ(call(translate + " --prompt-file " + lines).out, "k l m n o\n\nv w x y z\n");
  const auto json = json_of(call(translate + " --json --prompt-file " + lines));
  ASSERT_EQ(json.at("translations").size(), 3u);
  EXPECT_EQ(json.at("translations")[2],
            (nlohmann::json{{"source", "a b c d e"}, {"text", "v w x y z"}}));
  expect_all({{"evaluate --bleu " + run.string() + " --data synthetic", 78,
               "--bleu compares translations"},
              {translate, 2, "wanted sentences to translate"},
              {translate + " --prompt a --temperature 0 --seed 1", 2,
               "generate: --temperature, --seed are for texts to continue"}});
}

TEST(Pairs, AreTheSameHoweverTheMinibatchIsCut) {
  const std::string data = "--minibatches 4 --seed 3 --data " + pairs() + " --json ";
  const auto whole = json_of(call(kGnmt + "--system pipedream --workers 1 " + data));
  const auto cut = json_of(call(kGnmt + "--system gpipe --workers 2 --microbatches 4 " + data));
  EXPECT_NEAR(whole.at("loss").get<double>(), cut.at("loss").get<double>(), 1e-4);
}

TEST(Tokeniser, IsLearnedSavedAndUsedAgain) {
  const std::string text = "--data text:" + write("story", english() + german() + english());
  const fs::path run = scratch("learned");
  const fs::path again = scratch("again");
  ASSERT_EQ(call(kGpt + text + " --tokeniser bpe:270 --minibatches 4 --out " + run.string()).code,
            0);
  const fs::path vocabulary = run / "vocabulary.json";
  ASSERT_TRUE(fs::exists(vocabulary));
  const Answer second = call(kGpt + text + " --tokeniser " + vocabulary.string() +
                             " --minibatches 4 --out " + again.string());
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(read_file(run / "weights.safetensors") == read_file(again / "weights.safetensors"));
  EXPECT_EQ(read_file(vocabulary), read_file(again / "vocabulary.json"));
  // Other text is evaluated with the vocabulary of the run.
  const std::string other = " --held-out 0.5 --data text:" + write("other", german());
  const auto score = json_of(call("evaluate " + run.string() + other + " --json"));
  const auto same = json_of(
      call("evaluate " + run.string() + other + " --json --tokeniser " + vocabulary.string()));
  EXPECT_EQ(score, same);
}

TEST(Evaluate, DoesNotCallSamplesHeldOutThatTheRunTrainedOn) {
  const fs::path run = scratch("shares");
  const std::string text = " --data text:" + write("shares_of", english());
  ASSERT_EQ(call(kGpt + text + " --held-out 0.2 --minibatches 2 --out " + run.string()).code, 0);
  const std::string evaluate = "evaluate " + run.string();
  EXPECT_EQ(call(evaluate + " --held-out 0.1").code, 0);
  const Answer refused = call(evaluate + " --held-out 0.5");
  EXPECT_EQ(refused.code, 78);
  EXPECT_NE(refused.err.find("--held-out 0.5: the run held out 0.2"), std::string::npos)
      << refused.err;
  EXPECT_EQ(call(evaluate + " --held-out 0.5 --data text:" + write("foreign", english())).code, 0);
}

TEST(Tokeniser, OfARunStaysWhenItGoesOn) {
  const fs::path run = scratch("going");
  const std::string file = write("growing", english() + german());
  ASSERT_EQ(call(kGpt + "--data text:" + file + " --tokeniser bpe:270 --minibatches 4 --out " +
                 run.string())
                .code,
            0);
  const std::string before = read_file(run / "vocabulary.json");
  // Other pairs would be learned now.
  write_file_atomically(file, std::string(4000, 'x') + german());
  const fs::path onwards = scratch("onwards");
  const std::string on = "train --force --overwrite --minibatches 6 --resume " + run.string() +
                         " --out " + onwards.string();
  const Answer resumed = call(on);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_file(onwards / "vocabulary.json"), before);
  const Answer learned = call(on + " --tokeniser bpe:280");
  EXPECT_EQ(learned.code, 78);
  EXPECT_NE(learned.err.find("a run that goes on keeps its tokens"), std::string::npos);
  const std::string other = write("other.json", before);
  EXPECT_EQ(call(on + " --tokeniser " + other).code, 0) << "the same vocabulary in another file";
  std::string changed = before;
  changed.replace(changed.rfind("]\n  ]"), 1, "],\n    [3, 3]");
  write_file_atomically(other, changed);
  const Answer refused = call(on + " --tokeniser " + other);
  EXPECT_EQ(refused.code, 78);
  EXPECT_NE(refused.err.find("is not the vocabulary that the weights were trained with"),
            std::string::npos)
      << refused.err;
}

// The bytes that occur in a text are the tokens, so another text must not have others.
TEST(Bytes, KeepTheirTokensWhereTheTextIsAnother) {
  const fs::path run = scratch("bytes");
  const std::string model =
      "train --model gpt --hidden 16 --layers 1 --heads 2 --context 8 --vocabulary 40 --batch 8 "
      "--profile-seconds 0.2 --workers 1 --minibatches 4 --data text:";
  ASSERT_EQ(call(model + write("first", english()) + " --out " + run.string()).code, 0);
  const std::string scored = "evaluate " + run.string() + " --held-out 0.5 --json --data text:";
  // Fewer different bytes, which have the ranks of the text that was trained on.
  std::string few = english();
  std::erase(few, 'e');
  EXPECT_EQ(call(scored + write("few", few)).code, 0);
  const Answer refused = call(scored + write("more", english() + "ß"));
  EXPECT_EQ(refused.code, 78);
  EXPECT_NE(refused.err.find("does not occur in the text that the weights were trained on"),
            std::string::npos)
      << refused.err;
}

TEST(Tokeniser, IsTheSameInAllProcesses) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "this build has no MPI";
  const fs::path run = scratch("processes");
  const Answer trained =
      call_with(mpirun(2), kGnmt + "--system gpipe --microbatches 2 --minibatches 2 --data " +
                               pairs() + " --out " + run.string());
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_TRUE(fs::exists(run / "vocabulary.json"));
}

TEST(Tokeniser, IsRefusedWhereItSaysNothing) {
  const std::string text = kGpt + "--data text:" + write("short", english()) + " --tokeniser ";
  expect_all({
      {text + "bpe:12", 2, "--tokeniser bpe:12: wanted a number of tokens from 259"},
      {text + "/nothing.json", 74, "/nothing.json"},
      {kMlp + "--tokeniser bpe:300", 2,
       "--tokeniser is for text:FILE, tokens:FILE and pairs:FILE,FILE"},
      {kGnmt + "--data pairs:" + write("one", "a\n"), 2, "write pairs:SOURCE,TRANSLATION"},
  });
}

}  // namespace
}  // namespace pipedream
