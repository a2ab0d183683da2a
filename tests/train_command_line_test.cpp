// pipedream train as a user calls it, on threads and under mpirun.
#include <chrono>
#include <csignal>

#include <sys/resource.h>
#include <unistd.h>

#include "background_testing.h"
#include "core/machine.h"
#include "core/shared_data.h"
#include "train_command_line_testing.h"

namespace pipedream {
namespace {

TEST(TrainCommand, TrainsWithEverySystem) {
  const auto json =
      json_of(call(kMlp + "--workers 2 --system all --minibatches 8 --microbatches 2 --json"));
  std::map<std::string, nlohmann::json> runs;
  for (const auto& run : json.at("runs")) runs[run.at("system")] = run;
  for (const auto& each : json_of(call("systems --json")).at("systems")) {
    const std::string system = each.at("name");
    ASSERT_TRUE(runs.contains(system));
    const auto& measured = runs.at(system).at("measured");
    ASSERT_TRUE(measured.is_object()) << system << ": " << runs.at(system);
    EXPECT_EQ(measured.at("samples"), 8 * 16) << system;
    EXPECT_GT(measured.at("samples_per_second"), 0) << system;
    EXPECT_LT(measured.at("loss"), 3) << system;
  }
}

TEST(CompareCommand, RunMeasuresEverySystem) {
  const auto json = json_of(
      call("compare --run --model mlp --inputs 20 --hidden 16 --batch 16 --profile-seconds 0.2 "
           "--workers 2 --link 1Gbit/s --minibatches 12 --json"));
  EXPECT_EQ(json.at("runs").size(), json_of(call("systems --json")).at("systems").size());
  for (const auto& run : json.at("runs")) {
    ASSERT_TRUE(run.at("measured").is_object()) << run;
    EXPECT_GT(run.at("measured").at("samples_per_second"), 0) << run;
    EXPECT_GT(run.at("simulated").at("samples_per_second"), 0) << run;
    EXPECT_GT(run.at("speedup_over_dp"), 0) << run;
    EXPECT_TRUE(run.at("measured").at("held_out_loss").is_null()) << "nobody asked for it";
  }
  const Answer misspelt = call("compare --run --model mlp --worker 2");
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_NE(misspelt.err.find("--workers"), std::string::npos) << misspelt.err;
}

TEST(CompareCommand, RunSaysWhichSystemItIsAtAndEvaluatesWhereAsked) {
  const Answer answer = call(
      "compare --run --evaluation --model mlp --inputs 20 --hidden 16 --batch 16 "
      "--profile-seconds 0.1 --workers 1 --minibatches 2");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find("system 1 of "), std::string::npos) << answer.err;
  EXPECT_NE(answer.out.find("held-out"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("mlp: 32 samples with each system, --batch 16\n"), std::string::npos)
      << answer.out;
}

// The mlp trains an epoch in less than a minute.
TEST(CompareCommand, RunTrainsNoLongerThanAnEpoch) {
  const Answer answer = call("compare --run" + kMlp.substr(5) + "--workers 2");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find("256 minibatches with each system (--minibatches says how many)\n"),
            std::string::npos)
      << answer.err;
  EXPECT_NE(answer.out.find("mlp: 4,096 samples with each system"), std::string::npos)
      << answer.out;
}

TEST(CompareCommand, SaysWhichFlagsAreForWhat) {
  const std::string run = "compare --run --model mlp ";
  expect_all({{run + "--system gpipe", 2, "compare has no --system: it runs all systems"},
              {run + "--out x", 2, "compare has no --out: it runs all systems and keeps nothing"},
              {run + "--link 1Gbit/s --cluster x", 2, "leave out --link"},
              {run + "--jitter 5", 2, "compare --jitter is for simulating: leave out --run"},
              {run + "--image-size 32", 2, "this model has --inputs, --hidden"},
              {"compare --run", 2, "compare: wanted --model NAME"}});
  const std::string help = on_one_line(call("compare --help").out);
  EXPECT_EQ(help.find("REQUIRED"), std::string::npos) << help;
  EXPECT_NE(help.find("With --run: "), std::string::npos) << help;
}

// The weights after training on `workers` threads or processes.
std::string weights_of(const std::string& train, int workers, bool on_processes) {
  const std::string file = scratch("trained.safetensors").string();
  const std::string command = train + " --minibatches 12 --no-evaluation --export " + file;
  const Answer answer = on_processes ? call_with(mpirun(workers), command)
                                     : call(command + " --workers " + std::to_string(workers));
  EXPECT_EQ(answer.code, 0) << answer.err;
  return read_file(file);
}

void expect_same_on_processes(const std::string& train, int workers) {
  EXPECT_EQ(weights_of(train, workers, true), weights_of(train, workers, false)) << train;
}

TEST(TrainCommand, EveryExchangeGivesTheSameBitsOnProcessesAsOnThreads) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
  const std::string run = kMlp + "--profile " + mlp_profile() + " --system dp-bsp --exchange ";
  for (const std::string exchange : {"ring", "all-to-all", "ps"})
    for (const int workers : {2, 3}) expect_same_on_processes(run + exchange, workers);
}

TEST(TrainCommand, AnyOrderOfSummationOfTwoIsTheSame) {
  const std::string run = kMlp + "--profile " + mlp_profile() + " --system dp-bsp --exchange ";
  const std::string ring = weights_of(run + "ring", 2, false);
  for (const std::string exchange : {"all-to-all", "ps"})
    EXPECT_EQ(weights_of(run + exchange, 2, false), ring) << exchange;
}

// The command line of a training with three replicas of the first stage and one of the second.
std::string train_three_and_one() {
  const std::string profile = mlp_profile();
  auto plan = json_of(call("plan --json --system mp --stages 2 --profile " + profile +
                           " --cluster " + cluster_of("four", {4})));
  plan["system"] = "pipedream";
  plan["config"] = "3-1";
  auto& stages = plan["stages"];
  stages[0].update({{"workers", {0, 1, 2}}, {"replicas", 3}, {"depth", 2}});
  stages[1].update({{"workers", {3}}, {"depth", 1}});
  return kMlp + "--profile " + profile + " --plan " + write("replicated.json", plan.dump());
}

TEST(TrainCommand, ReplicatedStagesGiveTheSameBitsOnProcessesAsOnThreads) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
  const std::string train = train_three_and_one();
  expect_same_on_processes(train, 4);
  const auto trained = json_of(call_with(mpirun(4), train + " --minibatches 6 --json"));
  EXPECT_EQ(trained.at("config"), "3-1");
}

// Gradients are first summed within each server of two workers. This order gives other bits than a
// sum of four one after another.
TEST(TrainCommand, TheServersOfAClusterFileChangeInWhichOrderThreadsSum) {
  const std::string flat = cluster_of("flat", {4});
  const std::string servers = cluster_of("servers", {2, 2});
  const std::string run = kMlp + "--profile " + mlp_profile() + " --system dp-bsp";
  const std::string plain = weights_of(run, 4, false);
  EXPECT_EQ(weights_of(run + " --cluster " + flat, 4, false), plain);
  EXPECT_NE(weights_of(run + " --cluster " + servers, 4, false), plain);
}

TEST(TrainCommand, AsynchronousWorkersTellHowFarTheWeightsHadMovedOn) {
  for (const std::string launch : {"", "mpirun"}) {
    if (!launch.empty() && std::string(PD_MPIRUN).empty()) continue;
    const std::string train = kMlp + "--system dp-asp --minibatches 40 --json";
    const Answer answer =
        launch.empty() ? call(train + " --workers 2") : call_with(mpirun(2), train);
    EXPECT_EQ(answer.err.find("of unknown size"), std::string::npos)
        << "a server's memory has to be counted by its worker's meter\n"
        << answer.err;
    const auto json = json_of(answer);
    EXPECT_GE(json.at("staleness").at(0).at("most"), 1);
    EXPECT_LT(json.at("loss"), 3);
    EXPECT_GT(json.at("bytes_per_sample"), 0);
  }
}

TEST(TrainCommand, PrintsOneTableAndOneObject) {
  const Answer table = call(kMlp + "--workers 2 --system pipedream --straight --minibatches 10");
  EXPECT_EQ(table.code, 0) << table.err;
  for (const std::string word :
       {"speed ", "loss ", "utilisation ", "on links ", "updates behind", "memory", "predicted"})
    EXPECT_NE(table.out.find(word), std::string::npos) << word << "\n" << table.out;
  const auto json = json_of(call(kMlp + "--workers 2 --system pipedream --straight --depth noam "
                                        "--minibatches 10 --json"));
  for (const std::string key :
       {"system", "config", "samples_per_second", "predicted_samples_per_second", "loss",
        "accuracy", "bytes_per_sample", "utilisation", "idle", "recompute", "peak_memory_bytes",
        "staleness", "seconds"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_FALSE(json.contains("microbatches")) << "it cuts nothing";
  EXPECT_EQ(json.at("config"), "1-1");
  EXPECT_EQ(json.at("staleness").at(0).at("most"), 1);
}

TEST(TrainCommand, AccumulatesTheGradientsOfSeveralMinibatches) {
  for (const std::string system : {"dp-bsp", "pipedream"}) {
    const auto json = json_of(call(kMlp + "--workers 2 --system " + system +
                                   (system == "pipedream" ? " --straight" : "") +
                                   " --accumulate 4 --minibatches 24 --json"));
    EXPECT_EQ(json.at("accumulate"), 4);
    EXPECT_EQ(json.at("samples_per_update"), (system == "pipedream" ? 1 : 2) * 4 * 16);
    EXPECT_EQ(json.at("samples"), 24 * 16);
  }
  const Answer at_the_end =
      call(kMlp + "--workers 2 --system dp-bsp --accumulate 100 --minibatches 4");
  EXPECT_EQ(at_the_end.code, 0);
  EXPECT_NE(at_the_end.err.find("an update is made from 3200 samples, and the training has 64"),
            std::string::npos)
      << at_the_end.err;
}

TEST(TrainCommand, AccumulatesTheSameInProcessesAsInThreads) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "this build has no MPI";
  for (const std::string system : {"dp-bsp", "pipedream --straight", "gpipe --microbatches 2"}) {
    SCOPED_TRACE(system);
    const std::string train =
        kMlp + "--system " + system + " --accumulate 3 --minibatches 24 --export ";
    const std::string threads = scratch("accumulated_by_threads").string();
    const std::string processes = scratch("accumulated_by_processes").string();
    ASSERT_EQ(call(train + threads + " --workers 2").code, 0);
    const Answer answer = call_with(mpirun(2), train + processes);
    ASSERT_EQ(answer.code, 0) << answer.err;
    EXPECT_EQ(read_file(threads), read_file(processes));
  }
}

TEST(TrainCommand, SaysHowManyMicrobatchesThereAre) {
  const std::string gpipe = kMlp + "--workers 2 --system gpipe --microbatches 4 --minibatches 3 ";
  const Answer table = call(gpipe);
  EXPECT_NE(table.out.find("3 minibatches in 4 microbatches each trained"), std::string::npos)
      << table.out;
  EXPECT_EQ(json_of(call(gpipe + "--json")).at("microbatches"), 4);
}

TEST(TrainCommand, SaysWhereWorkersAreMoreThanCores) {
  const int cores = pipedream::cores();
  const std::string mp = kMlp + "--minibatches 2 --system mp --workers ";
  const std::string crowd = std::to_string(cores + 1) + " workers of 1 thread share ";
  EXPECT_NE(call(mp + std::to_string(cores + 1)).err.find(crowd), std::string::npos);
  EXPECT_EQ(call(mp + std::to_string(cores)).err.find(" share "), std::string::npos);
}

TEST(TrainCommand, SaysHowManyWorkersAPlanLeavesIdle) {
  const std::string out = scratch("run_of_two").string();
  const Answer first =
      call(kMlp + "--workers 4 --system gpipe --stages 2 --minibatches 2 --out " + out);
  EXPECT_NE(first.err.find("gpipe 1-1: 2 of 4 workers have nothing to do"), std::string::npos)
      << first.err;
  const std::string again = "train --minibatches 2 --config " + out + "/config.json --workers ";
  const Answer more = call(again + "3");
  EXPECT_NE(more.err.find("1 of 3 workers has nothing to do"), std::string::npos) << more.err;
  EXPECT_EQ(more.code, 0) << more.err;
  const Answer fewer = call(again + "1");
  EXPECT_EQ(fewer.code, 78) << fewer.err;
  EXPECT_NE(fewer.err.find("needs 2 workers, and 1 is to train"), std::string::npos) << fewer.err;
  EXPECT_EQ(fewer.err.find("it is kept"), std::string::npos) << "the plan is not\n" << fewer.err;
  if (std::string(PD_MPIRUN).empty()) return;
  const Answer unsaid =
      call_with(mpirun(3), "train --minibatches 2 --config " + out + "/config.json");
  EXPECT_EQ(unsaid.code, 0) << unsaid.err;
  EXPECT_NE(unsaid.err.find("mpirun's 3 processes: the plan was made for other settings"),
            std::string::npos)
      << unsaid.err;
  const Answer processes = call_with(mpirun(3), again + "3");
  EXPECT_EQ(processes.code, 0) << processes.err;
  EXPECT_NE(processes.err.find("1 of 3 workers has nothing to do"), std::string::npos)
      << processes.err;
}

TEST(TrainCommand, PythonLoadsTheExportedWeights) {
  const std::string file = scratch("weights.safetensors").string();
  ASSERT_EQ(call(kMlp + "--workers 2 --minibatches 3 --export " + file).code, 0);
  const int status =
      std::system((PD_PYTHON " -c \"import safetensors.numpy as s; t = s.load_file('" + file +
                   "'); assert t['fc1.weight'].shape == (16, 20), t['fc1.weight'].shape; "
                   "assert len(t) == 8, len(t)\"")
                      .c_str());
  EXPECT_EQ(status, 0);
}

TEST(TrainCommand, WritesMeasuredPictures) {
  const std::string svg = scratch("measured.svg").string();
  const std::string trace = scratch("measured.json").string();
  const Answer answer =
      call(kMlp + "--workers 2 --minibatches 5 --svg " + svg + " --trace " + trace);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(read_file(svg).substr(0, 4), "<svg");
  EXPECT_FALSE(nlohmann::json::parse(read_file(trace)).at("traceEvents").empty());
}

TEST(TrainCommand, ItsPicturesSayWhatTheyShow) {
  const std::filesystem::path out = scratch("run_of_two_epochs");
  ASSERT_EQ(
      call("train --model mlp --inputs 20 --hidden 16 --batch 1024 --workers 2 --system gpipe "
           "--profile-seconds 0.1 --minibatches 8 --no-evaluation --out " +
           out.string())
          .code,
      0);
  const std::string svg = read_file(out / "timeline.svg");
  EXPECT_NE(svg.find("mlp: gpipe 1-1, measured"), std::string::npos);
  EXPECT_NE(svg.find("4–7"), std::string::npos) << "a line may be broken anywhere\n" << svg;
}

TEST(TrainCommand, RunsAScheduleOfTheUsersOwn) {
  const std::string own =
      write("own_training.txt", "worker 0: F0 B0 F1 B1\nworker 1: F0 B0 F1 B1\n");
  const auto json = json_of(
      call(kMlp + "--workers 2 --system gpipe --stages 2 --no-recompute --json --schedule " + own));
  EXPECT_EQ(json.at("minibatches"), 2);
  EXPECT_TRUE(json.at("predicted_samples_per_second").is_null()) << "that of the system's own";
  EXPECT_GT(json.at("simulated_samples_per_second"), 0);
}

TEST(TrainCommand, ReadsMnistAndText) {
  const std::filesystem::path shared = test::shared_data();
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "there is no folder of shared data";
  const auto digits =
      json_of(call("train --model mlp --hidden 64 --workers 2 --system gpipe "
                   "--profile-seconds 0.2 --epochs 1 --json --data idx:" +
                   (shared / "mnist").string()));
  EXPECT_GT(digits.at("accuracy"), 0.8);
  const auto words = json_of(call(
      "train --model gpt --hidden 32 --layers 2 --heads 2 --context 32 --vocabulary 65 --batch "
      "16 --optimiser adam --workers 2 --profile-seconds 0.2 --minibatches 60 --json --data "
      "text:" +
      (shared / "text" / "tinyshakespeare.txt").string()));
  EXPECT_LT(words.at("perplexity"), 40);
}

TEST(TrainCommand, SaysWhatItsFlagsMeanHere) {
  const std::string help = on_one_line(call("train --help").out);
  for (const std::string text :
       {"Samples of a minibatch on one input replica", "[cores / --threads]",
        "Learning rate [0.01; adam and adamw: 0.001]", "pulls weights towards 0"})
    EXPECT_NE(help.find(text), std::string::npos) << text << "\n" << help;
  EXPECT_EQ(help.find("where the profile does not say"), std::string::npos) << help;
}

// In bfloat16 the values that cross a cut have half the bytes. The plan file records the precision.
TEST(TrainCommand, ComputesInBfloat16) {
  const std::string train = kMlp + "--workers 2 --system gpipe --split 2 --minibatches 12 --json";
  const auto plain = json_of(call(train));
  const std::string folder = scratch("bf16").string();
  const auto coarse = json_of(call(train + " --precision bf16 --out " + folder));
  EXPECT_NEAR(coarse["loss"], plain["loss"], 0.1 * plain["loss"].get<double>());
  EXPECT_EQ(coarse["bytes_per_sample"].get<double>() * 2, plain["bytes_per_sample"].get<double>());
  EXPECT_EQ(nlohmann::json::parse(read_file(folder + "/plan.json"))["precision"], "bf16");
}

TEST(TrainCommand, SaysWhatIsWrong) {
  expect_all(
      {{"train", 2, "wanted --model NAME"},
       {"train --model vgg", 2, "there is no model 'vgg' (did you mean 'vgg16'?)"},
       {"train --model mlp --hiddn 3", 2, "did you mean '--hidden'?"},
       {"train --model mlp --data idx:/nowhere", 74, "/nowhere"},
       {"train --model mlp --data imagenet:x", 2, "there is no data set"},
       {kMlp + "--device gpu", 2, "there is no device 'gpu'"},
       {kMlp + "--device cuda:99", 78, "CUDA devices were found"},
       {kMlp + "--precision fp8", 2, "wanted fp32 or bf16"},
       {kMlp + "--precision bf16 --profile " + mlp_profile(), 78,
        "was measured in fp32, and training is to be in bf16"},
       {kMlp + "--workers 2 --system dp-asp --clip 1", 78,
        "so the norm of all gradients is never known"},
       {kMlp + "--workers 2 --system pipedream --straight --clip 1", 78, "a system that flushes"},
       {kMlp + "--workers 2 --system gpipe --vertical-sync", 2, "--vertical-sync is for pipedream"},
       {kMlp + "--plan a.json --system gpipe", 2, "excludes"},
       {kMlp + "--schedule a.txt --minibatches 2", 2, "excludes"},
       {kMlp + "--schedule a.txt --epochs 2", 2, "excludes"},
       {kMlp + "--schedule a.txt --no-stash", 2, "excludes"},
       {kMlp + "--schedule a.txt --vertical-sync", 2, "excludes"},
       {kMlp + "--workers 2 --system all --out " + scratch("x").string(), 2, "for one of them"},
       {kMlp + "--workers 2 --learning-rate 1e6 --minibatches 20 --system gpipe", 1,
        "try a smaller --learning-rate"},
       {kMlp + "--workers 2 --link fast", 2, "fast"},
       {kMlp + "--workers 2 --link 1Gbit/s --cluster a.toml", 2, "excludes"},
       {kMlp + "--schedule a.txt --microbatches 2", 2, "excludes"},
       {kMlp + "--optimiser adam --momentum 0.5", 2, "--momentum is for --optimiser momentum"},
       {kMlp + "--clip 0", 2, "wanted a number above 0, found '0'"},
       {kMlp + "--clip inf", 2, "wanted a number above 0, found 'inf'"},
       {"train --model mlp --inputs 21 --hidden 16 --batch 16 --profile " + mlp_profile(), 78,
        "is of a network of other sizes: 'features' makes 1.25 KiB there, wanted 1.312 KiB"},
       {"train --config " + write("bad_config.json", "{\"format\":\"pipedream-plan\"}"), 65,
        "pipedream-training"},
       {"train --config " +
            write("odd_config.json",
                  "{\"format\":\"pipedream-training\",\"version\":1,\"flags\":{\"epoch\":\"1\"},"
                  "\"model_options\":{}}"),
        65, "did you mean '--epochs'?"}});
}

TEST(TrainCommand, RefusesWhatNoProfileChangesBeforeItProfiles) {
  const std::vector<Failure> failures{
      {"--system pipdream", 2, "did you mean 'pipedream'?"},
      {"--system pipedream --clip 1", 78, "a system that flushes"},
      {"--system gpipe --microbatches 17", 78, "a minibatch has only 16 samples"},
      {"--system gpipe --vertical-sync", 2, "--vertical-sync is for pipedream"},
      {"--system gpipe --stages 3", 78, "at most 2 are possible here"},
      {"--system auto --stages 3", 78, "at most 2 are possible here"},
      {"--system gpipe --split 20", 2, "--split: wanted ascending numbers"},
      {"--system dapple --stages 2", 2, "--stages means nothing to dapple"}};
  for (const Failure& failure : failures) {
    const Answer answer = call(kMlp + "--workers 2 " + failure.arguments);
    EXPECT_EQ(answer.code, failure.code) << failure.arguments << "\n" << answer.err;
    EXPECT_NE(answer.err.find(failure.message), std::string::npos) << answer.err;
    EXPECT_EQ(answer.err.find("profiling"), std::string::npos) << answer.err;
  }
  const Answer fine =
      call(kMlp + "--workers 2 --minibatches 2 --system pipedream --vertical-sync " + "--straight");
  EXPECT_NE(fine.err.find("profiling"), std::string::npos) << "which is what one looks for above";
}

TEST(TrainCommand, SystemsThatCannotClipAreLeftOutOfAComparison) {
  const auto json =
      json_of(call(kMlp + "--workers 2 --system all --minibatches 2 --clip 1 --json"));
  for (const auto& run : json.at("runs"))
    EXPECT_EQ(run.at("measured").is_object(), run.at("system") != "pipedream" &&
                                                  run.at("system") != "2bw" &&
                                                  run.at("system") != "dp-asp")
        << run;
}

TEST(TrainCommand, ClipsAtAnyNormAboveZero) {
  for (const std::string norm : {"1e-30", "1e30"})
    EXPECT_EQ(call(kMlp + "--workers 1 --system gpipe --minibatches 2 --clip " + norm).code, 0);
}

TEST(TrainCommand, AFailingProcessEndsAllWithOneMessage) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
  const Answer answer =
      call_with(mpirun(3), kMlp + "--learning-rate 1e6 --minibatches 50 --system gpipe");
  EXPECT_EQ(answer.code, 1) << answer.err;
  EXPECT_EQ(messages(answer.err), 1) << answer.err;
  EXPECT_NE(answer.err.find("try a smaller --learning-rate"), std::string::npos) << answer.err;
}

// The second stage fails while averaging between the replicas of the first stage is in progress.
TEST(TrainCommand, AFailureBehindReplicasEndsAllWithItsMessage) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
  const Answer answer =
      call_with(mpirun(4), train_three_and_one() + " --learning-rate 1e6 --minibatches 60");
  EXPECT_EQ(answer.code, 1) << answer.err;
  EXPECT_EQ(messages(answer.err), 1) << answer.err;
  EXPECT_NE(answer.err.find("try a smaller --learning-rate"), std::string::npos) << answer.err;
}

// Only the first process detects the error, while the others wait for its plan.
TEST(TrainCommand, AFailureOfTheFirstProcessBeforeTrainingEndsAll) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
  const Answer answer = call_with(mpirun(2), kMlp + "--export /dev/null/x.safetensors");
  EXPECT_EQ(answer.code, 74) << answer.err;
  EXPECT_EQ(messages(answer.err), 1) << answer.err;
  EXPECT_NE(answer.err.find("/dev/null/x.safetensors"), std::string::npos) << answer.err;
}

TEST(TrainCommand, AFailureOfAnotherProcessBeforeTrainingIsToldByTheFirst) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
  const std::string weights = scratch("first_weights.safetensors").string();
  ASSERT_EQ(call(kMlp + "--minibatches 4 --system mp --workers 1 --export " + weights).code, 0);
  const std::string train = kMlp + "--minibatches 4 --weights ";
  const Answer answer = call_with(
      mpirun(1), train + weights + " : -n 1 " PD_PROGRAM " " + train + "/nowhere/weights");
  EXPECT_EQ(answer.code, 74) << answer.err;
  EXPECT_EQ(messages(answer.err), 1) << answer.err;
  EXPECT_NE(answer.err.find("/nowhere"), std::string::npos) << answer.err;
}

// An emulated link needs one clock, so it works on one machine only. The variable of Open MPI says
// how many processes run on this machine.
TEST(TrainCommand, ALinkIsRehearsedOnOneMachineOnly) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
  const Answer answer =
      call_with(mpirun(2) + "env OMPI_COMM_WORLD_LOCAL_SIZE=1 ", kMlp + "--link 100Mbit/s");
  EXPECT_EQ(answer.code, 78) << answer.err;
  EXPECT_EQ(messages(answer.err), 1) << answer.err;
  EXPECT_NE(answer.err.find("leave it out"), std::string::npos) << answer.err;
}

TEST(TrainCommand, SaysThatPlansForSeveralMachinesNeedAFile) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
  const std::string train =
      kMlp + "--profile " + mlp_profile() + " --system pipedream --minibatches 4";
  const std::string line = "say with --cluster what joins them";
  const Answer several = call_with(mpirun(2) + "env OMPI_COMM_WORLD_LOCAL_SIZE=1 ", train);
  EXPECT_EQ(several.code, 0) << several.err;
  EXPECT_NE(several.err.find(line), std::string::npos) << several.err;
  const Answer one = call_with(mpirun(2), train);
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.err.find(line), std::string::npos) << one.err;
}

// A profile that says that the last layers take a tenth of their time.
std::string flattering_profile(const std::string& network) {
  const std::string file = scratch("flattering.json").string();
  EXPECT_EQ(call("profile " + network + "--seconds 0.3 -o " + file).code, 0);
  nlohmann::json profile = nlohmann::json::parse(read_file(file));
  nlohmann::json& layers = profile.at("layers");
  for (std::size_t i = layers.size() / 2; i < layers.size(); ++i)
    for (const auto& [name, value] : layers[i].items())
      if (name == "forward" || name == "backward" || name.ends_with("_seconds"))
        value = value.get<double>() / 10;
  return write("flattering.json", profile.dump());
}

// Lines of progress come every five seconds. The training goes on until it is ended.
TEST(TrainCommand, ItsProgressNamesTheWorkerThatIsSlowerThanPlanned) {
  const std::string network = "--model mlp --inputs 64 --hidden 512 --layers 4 --batch 256 ";
  Background training("train " + network + "--workers 2 --system pipedream --straight " +
                      "--no-evaluation --epochs 100000 --profile " + flattering_profile(network));
  EXPECT_TRUE(comes_true([&] {
    return !training.is_running() ||
           training.err().find(" samples/s (slowest: worker 1 (stage 1), ") != std::string::npos;
  })) << training.err();
  EXPECT_TRUE(training.is_running()) << training.err();
  training.signal(SIGTERM);
  (void)training.wait();
}

TEST(TrainCommand, WorkersMustBeAsManyAsProcesses) {
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun";
  const Answer answer = call_with(mpirun(2), kMlp + "--workers 3");
  EXPECT_EQ(answer.code, 2) << answer.err;
  EXPECT_EQ(messages(answer.err), 1) << answer.err;
}

// The number of page faults of a training in its own process.
long new_pages(const std::string& environment) {
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_CHILDREN, &before);
  const Answer answer = call_with(environment,
                                  "train --model vgg16 --image-size 32 --hidden 64 --batch 4 "
                                  "--profile-seconds 0.1 --workers 1 --system mp --minibatches 8 "
                                  "--no-evaluation");
  EXPECT_EQ(answer.code, 0) << answer.err;
  getrusage(RUSAGE_CHILDREN, &after);
  return after.ru_minflt - before.ru_minflt;
}

TEST(TrainCommand, KeepsMemoryThatItFreesUnlessToldOtherwise) {
  const long handed_back =
      new_pages("MIMALLOC_PURGE_DELAY=0 GLIBC_TUNABLES=glibc.malloc.trim_threshold=131072 ");
  const long kept = new_pages("");
  EXPECT_LT(2 * kept, handed_back);
}

}  // namespace
}  // namespace pipedream
