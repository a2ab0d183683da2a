// Trainings in which one worker becomes slow, as a user sees them (docs/runtime.md#a-slow-worker).
//
// All workers are held back, most of them to a fifth of their speed and one to a tenth. They sleep
// for most of the time then, so that four of them need no more than one core, and the ratio of
// their speeds does not depend on the machine.
#include "checkpoint/folder.h"
#include "train_command_line_testing.h"

namespace pipedream {
namespace {

namespace fs = std::filesystem;

const std::string kNetwork =
    "train --model mlp --inputs 256 --hidden 512 --layers 20 --batch 64 --workers 4 --seed 3 "
    "--no-evaluation --profile-seconds 2 --system pipedream --straight --json ";
const std::string kReplan = "--replan --checkpoint-every 1000000 --out ";
const std::string kSlowWorker =
    "--straggler 0:0.2 --straggler 1:0.2 --straggler 2:0.1 --straggler 3:0.2 --slow-after 3 ";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Expects that the training took a new plan. Returns its result.
nlohmann::json expect_new_plan(const Answer& answer) {
  nlohmann::json result = json_of(answer);
  EXPECT_TRUE(has(answer.err, "(stage 2) computed for ")) << answer.err;
  EXPECT_TRUE(has(answer.err, "going on with pipedream ")) << answer.err;
  EXPECT_EQ(result.at("earlier_plans").at(0).at("config"), "1-1-1-1") << answer.err;
  return result;
}

// How many times as fast the training was in the end as with its first plan.
double gain_of(const nlohmann::json& result) {
  return result.at("samples_per_second").get<double>() /
         result.at("earlier_plans").at(0).at("samples_per_second").get<double>();
}

// The speed of the machine may change within a training, so the best of three counts.
TEST(Replan, TrainsFasterByANewPlanWhenAWorkerIsHeldBack) {
  double gain = 0;
  for (int attempt = 0; attempt < 3 && gain < 1.3; ++attempt) {
    const fs::path run = scratch("faster " + std::to_string(attempt));
    gain = std::max(gain, gain_of(expect_new_plan(call(kNetwork + kSlowWorker + kReplan + "'" +
                                                       run.string() + "' --minibatches 160"))));
    EXPECT_TRUE(has(read_file(run / "cluster.toml"), "speed")) << "the speeds that were seen";
  }
  EXPECT_GE(gain, 1.3);
}

TEST(Replan, HasTheWeightsOfAResumeWithTheNewPlan) {
  const fs::path run = scratch("run");
  const auto result =
      expect_new_plan(call(kNetwork + kSlowWorker + kReplan + run.string() + " --minibatches 80"));
  const std::int64_t step = result.at("resumed_at_minibatch");
  EXPECT_EQ(result.at("earlier_plans").back().at("until_minibatch"), step);
  const fs::path resumed = scratch("resumed");
  const fs::path checkpoint = run / "checkpoints" / checkpoint::folder_name(step);
  const Answer again =
      call("train --resume " + checkpoint.string() + " --plan " + (run / "plan.json").string() +
           " --slow-after 1000 --out " + resumed.string());
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(read_file(resumed / "weights.safetensors") == read_file(run / "weights.safetensors"));
}

TEST(Replan, WorksInProcesses) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
  const fs::path run = scratch("processes");
  (void)expect_new_plan(
      call_with(mpirun(4), kNetwork + kSlowWorker + kReplan + run.string() + " --minibatches 80"));
}

TEST(Replan, OnlyNamesTheWorkerIfItIsNotAskedFor) {
  const fs::path run = scratch("named");
  const Answer answer = call(kNetwork + kSlowWorker + "--minibatches 60 --out " + run.string());
  EXPECT_FALSE(json_of(answer).contains("earlier_plans"));
  EXPECT_TRUE(has(answer.err, "--replan would look for a better plan")) << answer.err;
  EXPECT_TRUE(has(read_file(run / "metrics.jsonl"), "{\"worker\":2,\"ratio\":"));
}

TEST(Replan, IsRefusedWhereItCannotWork) {
  struct Case {
    std::string flags;
    int code;
    std::string message;
  };
  const std::string out = " --out " + scratch("refused").string();
  for (const Case& each : std::vector<Case>{
           {"--replan", 2, "name a folder with --out"},
           {"--replan --checkpoint-every never" + out, 2, "leave --checkpoint-every never out"},
           {"--replan --system all", 2, "--system all"},
           {"--straggler 4:0.5", 2, "there are only 4 workers"},
           {"--straggler 1:2", 2, "found a speed above 1"},
           {"--straggler 1:0.5 --straggler 1:0.2", 2, "was named before"}}) {
    const Answer answer = call(kMlp + "--workers 4 --minibatches 4 " + each.flags);
    EXPECT_EQ(answer.code, each.code) << each.flags << answer.err;
    EXPECT_TRUE(has(answer.err, each.message)) << answer.err;
  }
}

}  // namespace
}  // namespace pipedream
