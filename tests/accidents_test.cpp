// Accidents of users do no damage: a second run into the same folder, a full disk, a closed pipe,
// odd paths.
#include <csignal>

#include <nlohmann/json.hpp>

#include "background_testing.h"

namespace pipedream {
namespace {

const std::string kTiny =
    "train --model mlp --inputs 8 --hidden 8 --layers 1 --batch 8 --workers 1 --system dp-bsp "
    "--no-evaluation --profile-seconds 0.1 ";

std::filesystem::path folder(const std::string& name) { return scratch(name); }

std::string name_of(const Background& program) {
  const std::string name = read_file("/proc/" + std::to_string(program.process()) + "/comm");
  return name.substr(0, name.find('\n'));
}

bool comes(const std::filesystem::path& file) {
  return comes_true([&] { return is_there(file); });
}

TEST(Accidents, ASecondTrainingIntoTheSameFolderIsRefusedByName) {
  const auto out = folder("used_twice");
  Background first(kTiny + "--minibatches 1000000000 --out " + out.string());
  ASSERT_TRUE(comes(out / "metrics.jsonl"));
  for (const std::string overwrite : {"", " --overwrite"}) {
    const Answer second = call(kTiny + "--minibatches 4 --out " + out.string() + overwrite);
    EXPECT_EQ(second.code, 78) << second.err;
    EXPECT_NE(second.err.find("is in use by another training (process " +
                              std::to_string(first.process()) + ")"),
              std::string::npos)
        << second.err;
  }
  EXPECT_EQ(name_of(first), "pipedream") << "as ps shows it";
  first.signal(SIGTERM);
  EXPECT_EQ(WEXITSTATUS(first.wait()), 75) << "stopped at a checkpoint";
  const Answer after = call(kTiny + "--minibatches 4 --overwrite --out " + out.string());
  EXPECT_EQ(after.code, 0) << "the lock is gone with its process: " << after.err;
  EXPECT_TRUE(is_there(out / "weights.safetensors"));
}

TEST(Accidents, WeightsOfOthersAreNotOverwritten) {
  const auto out = folder("of_others");
  std::filesystem::create_directories(out);
  write_file_atomically(out / "weights.safetensors", "somebody's");
  for (const std::string overwrite : {"", " --overwrite"}) {
    const Answer answer = call(kTiny + "--minibatches 4 --out " + out.string() + overwrite);
    EXPECT_EQ(answer.code, 78) << answer.err;
    EXPECT_EQ(read_file(out / "weights.safetensors"), "somebody's");
  }
  expect_all({{kTiny + "--out ''", 2, "wanted a folder's name"},
              {kTiny + "--overwrite", 2, "--overwrite requires --out"}});
}

// A limit on the size of files stands for a full disk.
TEST(Accidents, AFullDiskCostsTheWeightsNothingThatFits) {
  const auto out = folder("full_disk");
  const std::string large =
      "train --model mlp --hidden 64 --workers 1 --system dp-bsp "
      "--no-evaluation --profile-seconds 0.1 --minibatches 4 --out ";
  const Answer answer = call_with("ulimit -f 100; ", large + out.string());
  EXPECT_EQ(answer.code, 74) << answer.err;
  EXPECT_NE(answer.err.find("weights.safetensors"), std::string::npos) << answer.err;
  EXPECT_TRUE(is_there(out / "summary.json")) << "what fits is written all the same";
  EXPECT_NE(answer.out.find("samples/s"), std::string::npos) << "and the results are shown";
}

TEST(Accidents, MetricsThatCannotBeWrittenEndNoTraining) {
  const auto out = folder("full_of_metrics");
  const Answer answer =
      call_with("ulimit -f 60; ", kTiny + "--minibatches 2000 --out " + out.string());
  EXPECT_EQ(answer.code, 74) << answer.err;
  EXPECT_NE(answer.err.find("training goes on, and tries again"), std::string::npos);
  EXPECT_NE(answer.err.find("pipedream: "), std::string::npos) << "said again at the end";
  EXPECT_TRUE(is_there(out / "weights.safetensors"));
  EXPECT_TRUE(is_there(out / "summary.json"));
}

TEST(Accidents, AClosedPipeEndsNoTraining) {
  const auto out = folder("closed_pipe");
  // The program prints a line of progress every five seconds, after head has ended.
  const std::string command = std::string(PD_PROGRAM) + " " + kTiny + "--minibatches 200 --out " +
                              out.string() + " 2>&1 | head -c 1";
  EXPECT_EQ(std::system((command + " >/dev/null").c_str()), 0);
  EXPECT_TRUE(comes(out / "timeline.json"));
  EXPECT_TRUE(is_there(out / "weights.safetensors"));
  EXPECT_TRUE(is_there(out / "summary.json"));
}

TEST(Accidents, PathsMayHaveAnyBytes) {
  const auto file = folder("bytes\xff\xfe") / "text\x01.txt";
  std::filesystem::create_directories(file.parent_path());
  std::string text;
  for (int i = 0; i < 200; ++i) text += "to be or not to be, that is the question\n";
  write_file_atomically(file, text);
  const auto out = folder("run_with_bytes");
  const std::string model =
      "--model gpt --hidden 8 --layers 1 --heads 1 --vocabulary 32 "
      "--context 8 --batch 4 --workers 1 --no-evaluation ";
  const Answer answer = call("train " + model +
                             "--minibatches 4 --profile-seconds 0.1 --data "
                             "'text:" +
                             file.string() + "' --out " + out.string());
  ASSERT_EQ(answer.code, 0) << answer.err;
  const auto again = folder("run_with_bytes_again");
  const Answer repeated =
      call("train --config " + (out / "config.json").string() + " --out " + again.string());
  EXPECT_EQ(repeated.code, 0) << repeated.err;
  EXPECT_EQ(read_file(out / "weights.safetensors"), read_file(again / "weights.safetensors"));
}

TEST(Accidents, ABatchLargerThanTheDataIsTold) {
  const Answer answer = call(
      "train --model mlp --inputs 8 --hidden 8 --layers 1 --workers 1 --no-evaluation "
      "--profile-seconds 0.1 --batch 100000 --minibatches 2 --json");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find("fewer than --batch 100000"), std::string::npos) << answer.err;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_LT(json.at("samples_per_update"), 100000);
  EXPECT_EQ(json.at("samples"), 2 * json.at("samples_per_update").get<std::int64_t>());
  const Answer replicated = call(
      "train --model mlp --inputs 8 --hidden 8 --layers 1 --workers 2 --system dp-bsp "
      "--no-evaluation --profile-seconds 0.1 --batch 100000 --minibatches 2 --json");
  ASSERT_EQ(replicated.code, 0) << replicated.err;
  EXPECT_EQ(nlohmann::json::parse(replicated.out).at("samples_per_update"),
            json.at("samples_per_update"));
}

TEST(Accidents, MinibatchesAreCountedInTheUsersUnit) {
  const Answer answer = call(
      "train --model mlp --inputs 8 --hidden 8 --layers 1 --batch 8 --workers 2 --system "
      "dapple --no-evaluation --profile-seconds 0.1 --minibatches 12 --json");
  ASSERT_EQ(answer.code, 0) << answer.err;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json.at("minibatches"), 12) << json.at("config");
  EXPECT_EQ(json.at("samples"), 96);
}

TEST(Accidents, WordsOfOtherToolsGetAHint) {
  expect_all({{"train --model mpl", 2, "did you mean 'mlp'?"},
              {"train --model mlp --lr-schedule cosine", 2, "the learning rate is constant"},
              {"train --model mlp --batch-size 4", 2, "--batch says how many"},
              {"train --model mlp --link 100Mbps", 2, "write \"100Mbit/s\""}});
  EXPECT_EQ(call(kTiny + "--minibatches 2 --lr 0.001 --optimizer adam").code, 0);
}

}  // namespace
}  // namespace pipedream
