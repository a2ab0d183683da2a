// Texts that trained networks write (docs/training.md: Generating).
#include "train_command_line_testing.h"

namespace pipedream {
namespace {

namespace fs = std::filesystem;

// A network that has learned to repeat "abcd abcd abcd …".
class Generate : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "abcd ";
    const std::string file = write("repeated.txt", text);
    run_ = scratch("repeats");
    ASSERT_EQ(call("train --model gpt --hidden 16 --layers 1 --heads 2 --context 8 --vocabulary 5 "
                   "--batch 32 --profile-seconds 0.2 --optimiser adam --lr 0.02 --workers 2 "
                   "--system pipedream --straight --minibatches 60 --data text:" +
                   file + " --out " + run_.string())
                  .code,
              0);
  }
  static std::string run() { return run_.string(); }

 private:
  static inline fs::path run_;
};

TEST_F(Generate, ContinuesWhatTheNetworkHasLearned) {
  const Answer told = call("generate " + run() + " --prompt 'd ab' --tokens 20 --temperature 0");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out, "d abcd abcd abcd abcd ab\n");
  const auto json = json_of(call("generate " + run() + " --prompt 'c' --tokens 7 --json " +
                                 "--temperature 0 --weights " + run() + "/weights.safetensors"));
  EXPECT_EQ(json.at("prompt"), "c");
  EXPECT_EQ(json.at("text"), "d abcd ");
  EXPECT_EQ(json.at("tokens"), 7);
}

TEST_F(Generate, ReadsThePromptOfAFileAndOfStandardInput) {
  const std::string file = write("prompt.txt", "abc");
  const std::string words = "generate " + run() + " --tokens 2 --temperature 0 --prompt-file ";
  EXPECT_EQ(call(words + file).out, "abcd \n");
  EXPECT_EQ(call_with("<" + file + " ", words + "-").out, "abcd \n");
}

TEST_F(Generate, DrawsTheSameTextForTheSameSeed) {
  const auto drawn = [](int seed) {
    return call("generate " + run() + " --prompt a --tokens 60 --temperature 5 --seed " +
                std::to_string(seed))
        .out;
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
  EXPECT_EQ(call("generate " + run() + " --prompt a --tokens 7 --temperature 5 --top 1").out,
            "abcd abc\n");
}

TEST_F(Generate, SaysWhatIsWrong) {
  const fs::path numbers = scratch("numbers");
  ASSERT_EQ(call("train --model gpt --hidden 16 --layers 1 --heads 2 --context 8 --vocabulary 5 "
                 "--batch 32 --profile-seconds 0.2 --workers 1 --minibatches 2 --out " +
                 numbers.string())
                .code,
            0);
  const fs::path mlp = scratch("mlp");
  ASSERT_EQ(call(kMlp + "--workers 1 --minibatches 2 --out " + mlp.string()).code, 0);
  expect_all({
      {"generate", 2, "generate: wanted the folder of a run, or --model NAME and --weights FILE"},
      {"generate " + run() + " --prompt x", 78, "has no 'x'"},
      {"generate " + run() + " --prompt ''", 2, "the prompt is empty"},
      {"generate " + run() + " --threads 100000 --prompt a", 2, "--threads"},
      {"generate " + run() + " --prompt a --temperature -1", 2, "--temperature: wanted a number"},
      {"generate " + run() + " --prompt a --prompt-file b", 2, "--prompt"},
      {"generate " + run() + " --prompt-file /no/such/file", 74, "/no/such/file"},
      {"generate " + numbers.string() + " --prompt a", 78, "tokens or made-up data"},
      {"generate " + mlp.string() + " --prompt a", 78, "'mlp' "},
  });
}

}  // namespace
}  // namespace pipedream
