// Learning rates, targets and evaluations as users ask for them (docs/training.md).
#include <fstream>

#include "train_command_line_testing.h"

namespace pipedream {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The lines of a run's metrics that have `key`.
std::vector<nlohmann::json> metrics_with(const fs::path& run, const char* key) {
  std::vector<nlohmann::json> lines;
  std::ifstream file(run / "metrics.jsonl");
  for (std::string line; std::getline(file, line);)
    if (auto json = nlohmann::json::parse(line); json.contains(key))
      lines.push_back(std::move(json));
  return lines;
}

std::vector<double> rates_of(const fs::path& run) {
  std::vector<double> rates;
  for (const nlohmann::json& line : metrics_with(run, "learning_rate"))
    rates.push_back(line.at("learning_rate"));
  return rates;
}

// 16 samples in a minibatch, and one minibatch in an update.
const std::string kOneWorker = kMlp + "--system pipedream --workers 1 --seed 3 ";

TEST(LearningRate, WarmsUpAndFallsAsMetricsShow) {
  const fs::path run = scratch("rates");
  ASSERT_EQ(call(kOneWorker + "--minibatches 10 --lr 0.1 --warm-up 4 --lr-decay cosine --out " +
                 run.string())
                .code,
            0);
  const std::vector<double> rates = rates_of(run);  // each is that of the next update
  ASSERT_EQ(rates.size(), 10u);
  EXPECT_DOUBLE_EQ(rates[0], 0.05);
  EXPECT_DOUBLE_EQ(rates[2], 0.1);
  EXPECT_DOUBLE_EQ(rates[6], 0.05);
  EXPECT_NEAR(rates[9], 0, 1e-12);
}

TEST(LearningRate, OfManyReplicasScalesIfAsked) {
  const std::string two = kMlp + "--system dp-bsp --workers 2 --minibatches 4 --lr 0.1 --out ";
  const fs::path plain = scratch("plain");
  const fs::path scaled = scratch("scaled");
  ASSERT_EQ(call(two + plain.string()).code, 0);
  ASSERT_EQ(call(two + scaled.string() + " --scale-learning-rate").code, 0);
  EXPECT_EQ(rates_of(plain), std::vector<double>(4, 0.1));
  EXPECT_EQ(rates_of(scaled), std::vector<double>(4, 0.2));
}

// The rate depends on what was trained before, over all runs of the training.
TEST(LearningRate, GoesOnAfterACheckpoint) {
  const fs::path run = scratch("whole");
  const fs::path resumed = scratch("resumed");
  ASSERT_EQ(call(kOneWorker +
                 "--minibatches 12 --lr 0.1 --warm-up 8 --lr-decay step:5:0.5 --checkpoint-at 5 "
                 "--decay-weights-only --weight-decay 0.01 --label-smoothing 0.1 --out " +
                 run.string())
                .code,
            0);
  const Answer again = call("train --resume " + (run / "checkpoints/step-00000005").string() +
                            " --out " + resumed.string());
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(read_file(run / "weights.safetensors") == read_file(resumed / "weights.safetensors"));
}

TEST(LearningRate, IsRefusedIfItSaysNothing) {
  expect_all({
      {kMlp + "--warm-up 5steps", 2, "--warm-up: wanted updates such as 500, or epochs"},
      {kMlp + "--lr-decay linear", 2, "--learning-rate-decay: wanted none, cosine"},
      {kMlp + "--label-smoothing 2", 2, "--label-smoothing"},
      {kMlp + "--system dp-asp --workers 2 --decay-weights-only", 78,
       "--decay-weights-only: the parameter servers of dp-asp do not know which weights are "
       "biases"},
  });
}

TEST(LabelSmoothing, ChangesWhatIsLearned) {
  const auto plain = json_of(call(kOneWorker + "--minibatches 4 --json"));
  const auto smooth = json_of(call(kOneWorker + "--minibatches 4 --label-smoothing 0.2 --json"));
  EXPECT_NE(plain.at("loss"), smooth.at("loss"));
}

TEST(Evaluations, ComeAsOftenAndOfAsManySamplesAsAsked) {
  const fs::path run = scratch("evaluated");
  ASSERT_EQ(call(kOneWorker + "--minibatches 10 --evaluate-every 4 --evaluation-samples 32 --out " +
                 run.string())
                .code,
            0);
  const auto lines = metrics_with(run, "held_out_loss");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].at("minibatches"), 4);
  EXPECT_EQ(lines[1].at("samples"), 8 * 16);
  EXPECT_EQ(lines[2].at("minibatches"), 10);
  const double right = lines[2].at("accuracy").get<double>() * 32;
  EXPECT_EQ(right, std::round(right)) << "a share of 32 samples";
  EXPECT_TRUE(lines[2].contains("top5_accuracy")) << "there are ten classes";
}

const std::string kLearns = kOneWorker + "--epochs 20 ";

TEST(Targets, EndATrainingThatReachesThem) {
  const fs::path run = scratch("reached");
  const auto result = json_of(call(kLearns + "--target-accuracy 0.8 --json --out " + run.string()));
  EXPECT_TRUE(result.at("target").at("reached"));
  EXPECT_GE(result.at("target").at("best"), 0.8);
  EXPECT_EQ(result.at("target").at("samples"), result.at("samples"));
  EXPECT_LT(result.at("minibatches"), 20 * 256);
  EXPECT_TRUE(fs::exists(run / "weights.safetensors"));

  const Answer again = call("train --resume " + run.string());
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(has(again.err, "has ended at its target")) << again.err;
  const auto further =
      json_of(call("train --target-loss 0.000001 --epochs 3 --json --resume " + run.string()));
  EXPECT_GT(further.at("minibatches"), result.at("minibatches"));
}

TEST(Targets, AreToldAsTimeToAccuracy) {
  const Answer reached = call(kLearns + "--target-loss 1.5");
  EXPECT_EQ(reached.code, 0) << reached.err;
  EXPECT_TRUE(has(reached.out, "target       reached after ")) << reached.out;
  const Answer missed = call(kOneWorker + "--minibatches 4 --target-loss 0.000001");
  EXPECT_TRUE(has(missed.out, "target       not reached: loss ")) << missed.out;
}

TEST(Targets, EndATrainingThatLearnsNoMore) {
  const auto result = json_of(call(kOneWorker + "--epochs 20 --lr 0 --patience-epochs 2 --json"));
  EXPECT_EQ(result.at("target").at("stalled_epochs"), 2);
  EXPECT_EQ(result.at("minibatches"), 3 * 256) << "the first epoch is the best";
}

TEST(Targets, EndAllProcesses) {
  const Answer answer = call_with(mpirun(2), kMlp +
                                                 "--system dapple --epochs 20 "
                                                 "--target-accuracy 0.8 --json --cores any");
  EXPECT_TRUE(json_of(answer).at("target").at("reached")) << answer.err;
}

TEST(Targets, AreRefusedIfNothingCanReachThem) {
  expect_all({
      {kMlp + "--target-accuracy 97", 2, "--target-accuracy"},
      {kMlp + "--target-accuracy 0.9 --no-evaluation", 2, "excludes"},
      {kMlp + "--target-accuracy 0.9 --target-loss 1", 2, "excludes"},
      {kOneWorker + "--minibatches 2 --target-perplexity 5", 78,
       "--target-perplexity: an evaluation of this network gives no perplexity; choose "
       "--target-loss"},
  });
}

// The last line of the run's metrics that has `key`.
nlohmann::json last_of(const fs::path& run, const char* key) {
  return metrics_with(run, key).back();
}

TEST(Evaluate, ScoresARunAsItsLastEvaluationDid) {
  const fs::path run = scratch("scored");
  ASSERT_EQ(call(kMlp + "--system pipedream --workers 2 --epochs 1 --out " + run.string()).code, 0);
  const nlohmann::json last = last_of(run, "held_out_loss");
  for (const std::string from : {"", "/checkpoints/step-00000256"}) {
    const auto score = json_of(call("evaluate " + run.string() + from + " --json"));
    EXPECT_NEAR(score.at("loss"), last.at("held_out_loss"), 1e-6);
    EXPECT_EQ(score.at("accuracy"), last.at("accuracy"));
    EXPECT_EQ(score.at("top5_accuracy"), last.at("top5_accuracy"));
    EXPECT_TRUE(score.at("held_out"));
  }
  const Answer told = call("evaluate " + run.string() + " --threads 1");
  EXPECT_TRUE(has(told.out, "512 samples of synthetic, held out")) << told.out;
  EXPECT_TRUE(has(told.out, "% right (")) << told.out;
}

TEST(Evaluate, TakesOtherWeightsAndOtherData) {
  const fs::path run = scratch("other");
  ASSERT_EQ(call(kOneWorker + "--minibatches 32 --out " + run.string()).code, 0);
  const std::string weights = (run / "weights.safetensors").string();
  const auto of_run = json_of(call("evaluate " + run.string() + " --samples 100 --json"));
  EXPECT_EQ(of_run.at("samples"), 100);
  const auto of_file =
      json_of(call("evaluate --model mlp --inputs 20 --hidden 16 --batch 16"
                   " --seed 3 --samples 100 --json --weights " +
                   weights));
  EXPECT_EQ(of_file.at("accuracy"), of_run.at("accuracy"));
  const auto trained_on = json_of(call("evaluate --on-training --json " + run.string()));
  EXPECT_EQ(trained_on.at("samples"), 4096);
  EXPECT_FALSE(trained_on.at("held_out"));
  expect_all({
      {"evaluate --held-out 0 " + run.string(), 78, "no samples are held out"},
      {"evaluate --model mlp --weights " + weights, 78, "does not fit mlp"},
  });
}

TEST(Serve, WantsAnAddressAndOneTraining) {
  expect_all({
      {kMlp + "--serve nowhere", 2, "--serve: wanted PORT or HOST:PORT, such as 8080"},
      {kMlp + "--serve 0 --system all", 2, "--serve shows one training"},
  });
}

TEST(Evaluate, SaysWhatIsMissing) {
  const fs::path run = scratch("missing");
  const fs::path weights = scratch("short") / "weights.safetensors";
  ASSERT_EQ(
      call(kOneWorker + "--minibatches 2 --checkpoint-every never --out " + run.string()).code, 0);
  ASSERT_TRUE(fs::remove(run / "weights.safetensors"));
  expect_all({
      {"evaluate", 2, "wanted the folder of a run, or --model NAME and --weights FILE"},
      {"evaluate --model mlp", 2, "wanted --weights FILE, or the folder of a run"},
      {"evaluate --model mlp --weights " + weights.string(), 74, "weights.safetensors"},
      {"evaluate " + (run / "nothing").string(), 78, "there is no such folder"},
      {"evaluate " + run.string(), 78, "has neither checkpoints nor weights"},
      {"evaluate " + run.string() + " --image-sise 3", 2, "image-sise"},
  });
}

TEST(Ema, IsEvaluatedExportedAndKeptByTheRun) {
  const fs::path run = scratch("averaged");
  ASSERT_EQ(call(kOneWorker + "--minibatches 32 --ema 0.9 --out " + run.string()).code, 0);
  const auto score = json_of(call("evaluate " + run.string() + " --json"));
  EXPECT_NEAR(score.at("loss"), last_of(run, "held_out_loss").at("held_out_loss"), 1e-6);
  const fs::path exported = scratch("exported.safetensors");
  ASSERT_EQ(call("checkpoint " + run.string() + " --export " + exported.string()).code, 0);
  EXPECT_TRUE(read_file(exported) == read_file(run / "weights.safetensors"));
  EXPECT_EQ(call("train --minibatches 40 --resume " + run.string()).code, 0);
}

// A run that began without an average can have none, and a refusal leaves the run as it was.
TEST(Ema, IsRefusedWhereTheRunHasNone) {
  const fs::path run = scratch("unaveraged");
  ASSERT_EQ(call(kOneWorker + "--minibatches 16 --out " + run.string()).code, 0);
  const std::string settings = read_file(run / "config.json");
  const std::string on = "train --minibatches 32 --resume " + run.string();
  expect_all({{on + " --ema 0.9", 78, "the run began without averages of its weights"}});
  EXPECT_EQ(read_file(run / "config.json"), settings);
  EXPECT_EQ(call(on + " --ema 0").code, 0);
}

TEST(Evaluate, HasNoFlagsThatWouldChangeNothing) {
  const fs::path run = scratch("flags");
  ASSERT_EQ(call(kOneWorker + "--minibatches 2 --out " + run.string()).code, 0);
  expect_all({
      {"evaluate " + run.string() + " --system gpipe", 2, "evaluate has no flag --system"},
      {"evaluate " + run.string() + " --set batch=2", 2, "evaluate has no flag --set"},
      {"generate " + run.string() + " --lr 3", 2, "generate has no flag --lr"},
  });
}

}  // namespace
}  // namespace pipedream
