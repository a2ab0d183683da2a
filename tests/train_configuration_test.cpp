// The configuration that pipedream train leaves in a run's folder, and reads again.
#include <sstream>

#include "train_command_line_testing.h"

namespace pipedream {
namespace {

// The configuration that a run leaves behind gives the same weights again, on threads and on
// processes.
TEST(TrainConfiguration, TheConfigurationOfARunRepeatsItBitForBit) {
  for (const int workers : {2, 3, 4}) {
    const std::string out = scratch("run" + std::to_string(workers)).string();
    const std::string again = scratch("again.safetensors").string();
    const Answer first =
        call(kMlp + "--layers 6 --seed 5 --system pipedream --straight --workers " +
             std::to_string(workers) + " --minibatches 20 --out " + out);
    ASSERT_EQ(first.code, 0) << first.err;
    for (const std::string file : {"config.json", "plan.json", "profile.json", "metrics.jsonl",
                                   "summary.json", "timeline.svg", "timeline.json"})
      EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(out) / file)) << file;
    const std::string weights = read_file(std::filesystem::path(out) / "weights.safetensors");
    const std::string repeat = "train --config " + out + "/config.json --export " + again;
    ASSERT_EQ(call(repeat).code, 0);
    EXPECT_TRUE(read_file(again) == weights) << workers << " threads";
    if (std::string(PD_MPIRUN).empty()) continue;
    std::filesystem::remove(again);
    const Answer processes = call_with(mpirun(workers), repeat);
    ASSERT_EQ(processes.code, 0) << processes.err;
    EXPECT_TRUE(read_file(again) == weights) << workers << " processes";
  }
}

TEST(TrainConfiguration, TheConfigurationOfARunHasWhatItWasPlannedFrom) {
  const std::string cluster = cluster_of("two", {2});
  for (const std::string& with : {std::string(), "--cluster " + cluster}) {
    const std::string out = scratch(with.empty() ? "planned_here" : "planned_there").string();
    const auto first = json_of(call(kMlp + with + " --workers 2 --system gpipe --stages 2 " +
                                    "--minibatches 4 --json --out " + out));
    EXPECT_EQ(std::filesystem::exists(out + "/cluster.toml"), !with.empty());
    std::filesystem::rename(out, out + "_moved");
    const Answer again = call_with(
        "cd / && ", "train --json --config " + out + "_moved/config.json --out " + out + "_again");
    EXPECT_EQ(again.err.find("profiling"), std::string::npos) << again.err;
    for (const std::string key :
         {"predicted_samples_per_second", "simulated_samples_per_second", "predicted_memory_bytes"})
      EXPECT_EQ(json_of(again).at(key), first.at(key)) << key;
  }
}

TEST(TrainConfiguration, APlanThatWasMadeForSomethingElseIsKeptWithoutItsPrediction) {
  const std::string out = scratch("run_of_a_plan").string();
  ASSERT_EQ(call(kMlp + "--workers 2 --system gpipe --stages 2 --microbatches 4 --minibatches 4 " +
                 "--out " + out)
                .code,
            0);
  const std::string again = "train --json --minibatches 3 --config " + out + "/config.json ";
  const std::string kept =
      ": the plan was made for other settings; it is kept, without its prediction";
  for (const std::string flag : {"--batch 8", "--link 100Mbit/s", "--exchange ps",
                                 "--optimiser adam", "--hidden 20", "--batch 8, --link 1Gbit/s"}) {
    std::string written = flag;
    std::erase(written, ',');
    const Answer answer = call(again + written);
    EXPECT_NE(answer.err.find(flag + kept), std::string::npos) << answer.err;
    const auto json = json_of(answer);
    EXPECT_EQ(json.at("system"), "gpipe");
    EXPECT_TRUE(json.at("predicted_samples_per_second").is_null()) << flag;
    EXPECT_TRUE(json.at("simulated_samples_per_second").is_null()) << flag;
  }
  const Answer named = call(
      "train --model mlp --inputs 20 --hidden 16 --batch 8 --json --minibatches 3 --workers 2 "
      "--plan " +
      out + "/plan.json");
  EXPECT_NE(named.err.find("was made for minibatches of 16 samples, and these have 8"),
            std::string::npos)
      << named.err;
  EXPECT_TRUE(json_of(named).at("predicted_samples_per_second").is_null());
  const Answer same =
      call(again + "--batch 16 --hidden 16 --optimiser momentum --threads 1 --workers 2");
  EXPECT_EQ(same.err.find("the plan was made"), std::string::npos) << same.err;
  EXPECT_GT(json_of(same).at("predicted_samples_per_second"), 0);
}

// A flag asks for a new plan. The profile of the configuration is kept if it still applies.
TEST(TrainConfiguration, AProfileThatWasMeasuredWithSomethingElseIsMeasuredAnew) {
  const std::string out = scratch("run_of_a_profile").string();
  ASSERT_EQ(call(kMlp + "--workers 2 --system gpipe --stages 2 --minibatches 4 --out " + out).code,
            0);
  const std::string again = "train --json --config " + out + "/config.json --system dapple ";
  const Answer same = call(again + "--link 1Gbit/s");
  EXPECT_EQ(same.err.find("profiling"), std::string::npos) << same.err;
  EXPECT_GT(json_of(same).at("predicted_samples_per_second"), 0);
  const Answer other = call(again + "--batch 8");
  EXPECT_NE(other.err.find("--batch 8: the profile was measured with other settings"),
            std::string::npos)
      << other.err;
  EXPECT_GT(json_of(other).at("predicted_samples_per_second"), 0);
}

TEST(TrainConfiguration, ARunFolderCanBeMoved) {
  const std::string text = write("to_learn.txt", std::string(5000, 'a') + std::string(5000, 'b'));
  const std::string out = scratch("unmoved").string();
  const std::string gpt =
      "train --model gpt --hidden 16 --layers 1 --heads 1 --context 8 --vocabulary 2 --batch 4 "
      "--minibatches 2 --no-evaluation --workers 2 --profile-seconds 0.1 ";
  ASSERT_EQ(call(gpt + "--data text:" + std::filesystem::relative(text).string() + " --out " +
                 std::filesystem::relative(out).string())
                .code,
            0);
  std::filesystem::rename(out, out + "_then_moved");
  const Answer again =
      call_with("cd / && ", "train --json --config " + out + "_then_moved/config.json");
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST(TrainConfiguration, TheConfigurationHasNumbersInFull) {
  for (const std::string rate : {"3e-7", "0.00012345"}) {
    const std::filesystem::path out = scratch("run_with_rate_" + rate);
    const Answer answer = call(kMlp + "--workers 1 --minibatches 2 --learning-rate " + rate +
                               " --out " + out.string());
    ASSERT_EQ(answer.code, 0) << answer.err;
    const auto flags = nlohmann::json::parse(read_file(out / "config.json")).at("flags");
    EXPECT_EQ(std::stod(flags.at("learning-rate").get<std::string>()), std::stod(rate));
  }
}

TEST(TrainConfiguration, ARunThatStopsLeavesWhatItWasMadeOf) {
  const std::filesystem::path out = scratch("run_that_stops");
  const Answer answer =
      call(kMlp + "--workers 2 --learning-rate 1e6 --minibatches 20 --system gpipe --out " +
           out.string());
  EXPECT_EQ(answer.code, 1) << answer.err;
  for (const std::string file : {"config.json", "plan.json", "profile.json", "metrics.jsonl"})
    EXPECT_TRUE(std::filesystem::exists(out / file)) << file;
  EXPECT_FALSE(std::filesystem::exists(out / "weights.safetensors"));
}

// The run is repeated with the configuration that it left in this folder.
TEST(TrainConfiguration, AFolderOfARunThatStoppedCanBeOverwritten) {
  const std::filesystem::path out = scratch("run_that_is_repeated");
  ASSERT_EQ(call(kMlp + "--workers 2 --learning-rate 1e6 --minibatches 20 --system gpipe --out " +
                 out.string())
                .code,
            1);
  write_file_atomically(out / "worker1-last-ops.txt", "F0");
  const std::string again =
      "train --learning-rate 0.01 --config " + (out / "config.json").string() + " --out ";
  const Answer refused = call(again + out.string());
  EXPECT_EQ(refused.code, 78) << refused.err;
  EXPECT_NE(refused.err.find("which did not end"), std::string::npos) << refused.err;
  const Answer answer = call(again + out.string() + " --overwrite");
  EXPECT_EQ(answer.code, 0) << answer.err;
  for (const std::string file :
       {"config.json", "plan.json", "profile.json", "metrics.jsonl", "summary.json"})
    EXPECT_TRUE(std::filesystem::exists(out / file)) << file;
  EXPECT_FALSE(std::filesystem::exists(out / "worker1-last-ops.txt"));
  const Answer third = call(again + out.string());
  EXPECT_EQ(third.code, 78) << third.err;
  EXPECT_NE(third.err.find("name another folder"), std::string::npos) << third.err;
}

TEST(TrainConfiguration, RunsTheConfigurationInTheDocument) {
  const auto blocks = test::fenced_blocks(read_file(PD_SOURCE_DIR "/docs/formats.md"), "json");
  ASSERT_EQ(blocks.size(), 5U) << "profile, plan, training configuration, manifest, vocabulary";
  const auto json = json_of(call("train --config " + write("document.json", blocks[2]) +
                                 " --profile-seconds 0.2 --json"));
  EXPECT_EQ(json.at("minibatches"), 20);
}

TEST(TrainConfiguration, FlagsWinOverTheConfiguration) {
  const std::string out = scratch("run_to_change").string();
  ASSERT_EQ(call(kMlp + "--workers 1 --minibatches 4 --out " + out).code, 0);
  const auto json = json_of(call("train --config " + out + "/config.json --minibatches 7 --json"));
  EXPECT_EQ(json.at("minibatches"), 7);
}

// The configuration has --minibatches and a plan for pipedream.
TEST(TrainConfiguration, FlagsWinOverWhatTheyExcludeInTheConfiguration) {
  const std::string out = scratch("run_to_replan").string();
  const Answer first = call(
      "train --model mlp --inputs 20 --hidden 16 --batch 512 --workers 2 "
      "--profile-seconds 0.2 --system pipedream --straight --minibatches 3 "
      "--out " +
      out);
  ASSERT_EQ(first.code, 0) << first.err;
  const auto flags = nlohmann::json::parse(read_file(out + "/config.json")).at("flags");
  EXPECT_TRUE(flags.contains("plan"));
  EXPECT_EQ(flags.at("system"), "pipedream");
  const std::string again = "train --config " + out + "/config.json --json ";
  const auto longer = json_of(call(again + "--epochs 1"));
  EXPECT_EQ(longer.at("minibatches"), 4096 / 512);
  EXPECT_EQ(longer.at("system"), "pipedream");
  const Answer gpipe = call(again + "--system gpipe");
  EXPECT_NE(gpipe.err.find("--straight of the configuration means nothing to gpipe"),
            std::string::npos)
      << gpipe.err;
  const auto other = json_of(gpipe);
  EXPECT_EQ(other.at("minibatches"), 3);
  EXPECT_EQ(other.at("system"), "gpipe");
}

TEST(TrainConfiguration, FlagsThatPlanAnewKeepWhatTheConfigurationAskedFor) {
  const std::string out = scratch("run_to_plan_anew").string();
  ASSERT_EQ(call(kMlp + "--workers 2 --system gpipe --stages 2 --microbatches 4 --minibatches 3 " +
                 "--out " + out)
                .code,
            0);
  const std::string again = "train --config " + out + "/config.json ";
  const auto other = json_of(call(again + "--json --microbatches 2"));
  EXPECT_EQ(other.at("system"), "gpipe");
  EXPECT_EQ(other.at("config"), "1-1");
  EXPECT_EQ(other.at("microbatches"), 2);
  const auto kept = json_of(call(again + "--json --no-recompute"));
  EXPECT_EQ(kept.at("system"), "gpipe");
  EXPECT_EQ(kept.at("microbatches"), 4);
  EXPECT_EQ(kept.at("recompute"), 0);
  expect_all({{again + "--straight", 2, "--straight means nothing to gpipe"}});
  const auto split = json_of(call(again + "--json --split 1"));
  EXPECT_EQ(split.at("config"), "1-1") << "--stages goes";
}

TEST(TrainConfiguration, TheChoiceOfTheConfigurationMayBeAuto) {
  const std::string out = scratch("run_of_auto").string();
  ASSERT_EQ(call(kMlp + "--workers 1 --minibatches 2 --out " + out).code, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(out + "/config.json")).at("flags").at("system"),
            "auto");
  const Answer anew = call("train --memory 1GiB --config " + out + "/config.json");
  EXPECT_EQ(anew.code, 0) << anew.err;
  EXPECT_NE(anew.out.find("▶"), std::string::npos) << "what auto chose from\n" << anew.out;
}

TEST(TrainConfiguration, AConfigurationOfAPlanPlansAnewForItsSystem) {
  const std::string first = scratch("run_that_plans").string();
  const std::string second = scratch("run_of_its_plan").string();
  ASSERT_EQ(call(kMlp + "--workers 2 --system gpipe --minibatches 2 --out " + first).code, 0);
  ASSERT_EQ(
      call(kMlp + "--workers 2 --minibatches 2 --plan " + first + "/plan.json --out " + second)
          .code,
      0);
  const auto anew =
      json_of(call("train --json --microbatches 2 --config " + second + "/config.json"));
  EXPECT_EQ(anew.at("system"), "gpipe");
}

TEST(TrainConfiguration, ADefaultRateFollowsTheOptimiser) {
  const std::string plain = scratch("run_of_momentum").string();
  ASSERT_EQ(call(kMlp + "--workers 1 --minibatches 2 --out " + plain).code, 0);
  const std::string given = scratch("run_of_a_rate").string();
  ASSERT_EQ(call(kMlp + "--workers 1 --minibatches 2 --learning-rate 0.02 --out " + given).code, 0);
  const auto loss = [](const std::string& flags) {
    return json_of(call("train --optimiser adam --minibatches 6 --json " + flags)).at("loss");
  };
  const std::string mlp = " --config " + plain + "/config.json";
  EXPECT_EQ(loss(mlp), loss(mlp + " --learning-rate 0.001"));
  EXPECT_EQ(loss("--config " + given + "/config.json"), loss(mlp + " --learning-rate 0.02"));
  EXPECT_NE(loss(mlp), loss(mlp + " --learning-rate 0.01"));
}

TEST(TrainConfiguration, AnotherModelTakesNothingOfTheConfigurationsNetwork) {
  const std::string out = scratch("run_of_mlp").string();
  ASSERT_EQ(call(kMlp + "--workers 1 --seed 3 --minibatches 2 --no-evaluation --out " + out).code,
            0);
  const std::string config = " --config " + out + "/config.json ";
  const std::string gpt =
      "--model gpt --hidden 16 --layers 1 --heads 1 --context 8 --vocabulary 20 --batch 4 ";
  const Answer answer = call("train --json --profile-seconds 0.1 " + gpt + config);
  EXPECT_NE(answer.err.find("--model gpt: the configuration is of mlp"), std::string::npos)
      << answer.err;
  EXPECT_EQ(json_of(answer).at("minibatches"), 2);
}

// The lines of a table whose first entry is `name`, with single spaces.
std::string row_of(const std::string& table, const std::string& name) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + " ")) {
      line = on_one_line(line);
      return line.substr(0, line.find_last_not_of(' ') + 1);
    }
  return "";
}

TEST(TrainConfiguration, IsWrittenByHandWithTheNamesOfFlagsAndRealTypes) {
  const std::string file =
      write("hand.toml",
            "model = 'mlp'\ninputs = 20\nhidden = 16\nbatch = 16\nseed = 3\n"
            "workers = 1\nsystem = 'gpipe'\nminibatches = 6\nlr = 0.05\n"
            "lr-decay = 'cosine:0.1'\nno-evaluation = true\n"
            "profile-seconds = 0.1\nforce = false\nstraggler = ['0:0.9', '0:0.8']\n"
            "# a comment\n");
  EXPECT_EQ(call("train --config " + file).code, 65) << "force is no setting";
  const std::string good = write("good.toml", [&] {
    std::string text = read_file(file);
    text.erase(text.find("force"), std::string("force = false\n").size());
    text.erase(text.find("straggler"), std::string("straggler = ['0:0.9', '0:0.8']\n").size());
    return text;
  }());
  const std::string by_file = scratch("by_file.safetensors").string();
  const std::string by_flags = scratch("by_flags.safetensors").string();
  ASSERT_EQ(call("train --config " + good + " --export " + by_file).code, 0);
  ASSERT_EQ(
      call("train --model mlp --inputs 20 --hidden 16 --batch 16 --seed 3 --workers 1 --system "
           "gpipe --minibatches 6 --lr 0.05 --lr-decay cosine:0.1 --no-evaluation "
           "--profile-seconds 0.1 --export " +
           by_flags)
          .code,
      0);
  EXPECT_TRUE(read_file(by_file) == read_file(by_flags));
}

TEST(TrainConfiguration, AFlagWinsOverSetWhichWinsOverTheFile) {
  const std::string file =
      write("order.toml", "model = 'mlp'\nhidden = 16\nbatch = 16\nlr = 0.5\nseed = 1\n");
  const Answer dry = call("train --dry-run --config " + file +
                          " --set lr=0.25 --set hidden=8 --set inputs=9 --lr 0.125 --batch 4");
  ASSERT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(row_of(dry.out, "learning-rate"), "learning-rate 0.125 command line");
  EXPECT_EQ(row_of(dry.out, "batch"), "batch 4 command line");
  EXPECT_EQ(row_of(dry.out, "hidden"), "hidden 8 --set");
  EXPECT_EQ(row_of(dry.out, "inputs"), "inputs 9 --set");
  EXPECT_EQ(row_of(dry.out, "seed"), "seed 1 " + file);
  EXPECT_EQ(row_of(dry.out, "optimiser"), "optimiser momentum default");
  const Answer other = call("train --model mlp --dry-run --epochs 3 --set minibatches=5");
  EXPECT_EQ(row_of(other.out, "epochs"), "epochs 3 command line") << other.err;
  EXPECT_EQ(other.out.find("minibatches "), std::string::npos) << "a flag excludes it";
}

TEST(TrainConfiguration, WhatIsWrongByHandIsNamedWithItsLine) {
  const auto with = [](const std::string& name, const std::string& line) {
    return "train --dry-run --config " + write(name + ".toml", "model = 'mlp'\n" + line + "\n");
  };
  expect_all({
      {with("unknown", "learning-rat = 0.1"), 65,
       "unknown.toml:2: learning-rat: train has no setting learning-rat (did you mean "
       "'learning-rate'?)"},
      {with("option", "hiden = 3"), 65, "(did you mean 'hidden'?)"},
      {with("switch", "no-evaluation = 3"), 65,
       "switch.toml:2: no-evaluation: wanted true or false"},
      {with("truth", "batch = true"), 65, "wanted a value of --batch, found true or false"},
      {with("table", "[train]\nbatch = 4"), 65,
       "table.toml:2: train: is a table; settings stand in none"},
      {with("range", "batch = 0"), 65, "range.toml:2: batch: "},
      {with("syntax", "batch = "), 65, "syntax.toml:2"},
      {"train --model mlp --dry-run --set batch", 2, "--set batch: wanted NAME=VALUE"},
      {"train --model mlp --dry-run --set batch=x", 2, "--set batch=x: "},
      {"train --model mlp --dry-run --set bath=3", 2, "(did you mean 'batch'?)"},
      {"train --model mlp --dry-run --set out=x", 2, "--set out=x: train has no setting out"},
      {"train --model mlp --dry-run --set epochs=3 --set minibatches=5", 2,
       "--set minibatches=5: it excludes another --set"},
  });
}

TEST(TrainConfiguration, TheFileInTheDocumentIsRead) {
  const std::string document = read_file(std::filesystem::path(PD_SOURCE_DIR) / "docs/training.md");
  const auto blocks = test::fenced_blocks(document, "toml");
  ASSERT_EQ(blocks.size(), 1u);
  const Answer dry = call("train --dry-run --config " + write("document.toml", blocks[0]));
  ASSERT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(row_of(dry.out, "warm-up"), "warm-up 2epochs " + scratch("document.toml").string());
}

}  // namespace
}  // namespace pipedream
