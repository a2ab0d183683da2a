// pipedream simulate, compare and schedule as a user calls them.
#include <sstream>

#include <nlohmann/json.hpp>

#include "command_line_testing.h"

namespace pipedream {
namespace {

const std::string kInputs = " --profile " + kSmall +
                            " --batch 64 --cluster " PD_SOURCE_DIR "/examples/clusters/a-4x4.toml ";

TEST(SimulateCommand, ShowsSpeedAndWhereEveryWorkersTimeGoes) {
  const Answer answer = call("simulate" + kInputs + "--system pipedream");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.err, "");
  for (const char* part : {"pipedream 7-1, simulated\n", "speed        ", "utilisation  ",
                           "fill/drain  imbalance  transfer", "server 0 in its network"})
    EXPECT_NE(answer.out.find(part), std::string::npos) << part << "\n" << answer.out;
}

TEST(SimulateCommand, AsJsonHasTheKeysOfItsFormatAndPartsThatAddUp) {
  for (const char* system : {"pipedream", "dapple", "torchgpipe", "gpipe", "2bw", "dp-bsp", "mp",
                             "interleaved", "dp-asp"}) {
    const Answer answer = call("simulate --json" + kInputs + "--system " + system);
    ASSERT_EQ(answer.code, 0) << answer.err;
    const auto json = nlohmann::json::parse(answer.out);
    EXPECT_EQ(json.at("system"), system);
    for (const char* key : {"config", "samples_per_second", "bytes_per_sample", "events",
                            "simulator_seconds", "recompute", "links"})
      EXPECT_TRUE(json.contains(key)) << key;
    const auto& idle = json.at("idle");
    const double parts = idle.at("fill_drain").get<double>() + idle.at("imbalance").get<double>() +
                         idle.at("transfer").get<double>() + idle.at("wait").get<double>();
    const double all =
        json.at("seconds").get<double>() * static_cast<double>(json.at("peak_memory_bytes").size());
    EXPECT_NEAR(json.at("busy").get<double>() + parts, all, 1e-9 * all) << system;
    EXPECT_NEAR(json.at("utilisation").get<double>(), json.at("busy").get<double>() / all, 1e-9);
  }
}

TEST(SimulateCommand, SaysWhatCheckpointsCost) {
  const std::string command = "simulate" + kInputs + "--system pipedream --straight ";
  const auto json = nlohmann::json::parse(call(command + "--checkpoint-every 50 --json").out);
  const double rate = json.at("minibatches_per_second").get<double>();
  const double with = json.at("minibatches_per_second_with_checkpoints").get<double>();
  const double drain = json.at("drain_seconds").get<double>();
  EXPECT_GT(drain, 0);
  EXPECT_NEAR(50 / with, 50 / rate + drain, 1e-9);
  const std::string table = call(command + "--checkpoint-every 50").out;
  EXPECT_NE(table.find("\ncheckpoints  every 50 minibatches: "), std::string::npos) << table;
  EXPECT_EQ(call(command).out.find("checkpoints"), std::string::npos);
  EXPECT_EQ(call(command + "--checkpoint-every 0").code, 2);
  // A checkpoint comes after a whole update of the 16 replicas.
  const auto rounded = nlohmann::json::parse(
      call("simulate" + kInputs + "--system dp-bsp --checkpoint-every 1 --json").out);
  EXPECT_EQ(rounded.at("checkpoint_every").get<int>(), 16);
}

TEST(SimulateCommand, OfAPlanFileIsTheSameAsOfItsSystem) {
  const std::string plan = scratch("simulated_plan.json").string();
  ASSERT_EQ(call("plan" + kInputs + "--system dapple -o " + plan).code, 0);
  EXPECT_EQ(call("simulate" + kInputs + "--plan " + plan).out,
            call("simulate" + kInputs + "--system dapple").out);
}

TEST(SimulateCommand, KnowsHowManyMinibatchesAnUpdateHas) {
  const std::string plan = scratch("accumulating_plan.json").string();
  const Answer made = call("plan" + kInputs + "--system pipedream --accumulate 4 -o " + plan);
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.out.find("an update has 4 minibatches of each input replica\n"), std::string::npos)
      << made.out;
  const auto file = nlohmann::json::parse(read_file(plan));
  EXPECT_EQ(file.at("accumulate"), 4);
  const auto replicas = file.at("stages").at(0).at("replicas").get<int>();
  const auto json = nlohmann::json::parse(call("simulate --json" + kInputs + "--plan " + plan).out);
  EXPECT_EQ(json.at("samples_per_update"), 4 * replicas * 64);
  const Answer refused = call("simulate" + kInputs + "--system dp-asp --accumulate 4");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--accumulate means nothing to dp-asp"), std::string::npos)
      << refused.err;
  EXPECT_EQ(call("plan" + kInputs + "--accumulate 0").code, 2);
  const Answer compared = call("compare" + kInputs + "--accumulate 2");
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_NE(compared.out.find("dp-asp: --accumulate: each minibatch is an update"),
            std::string::npos)
      << compared.out;
}

TEST(SimulateCommand, WritesPictures) {
  const std::string svg = scratch("timeline.svg").string();
  const std::string trace = scratch("trace.json").string();
  const Answer answer =
      call("simulate" + kInputs + "--minibatches 12 --svg " + svg + " --trace " + trace);
  ASSERT_EQ(answer.code, 0) << answer.err;
  const std::string again = call("simulate" + kInputs + "--svg " + svg + " --trace " + trace).err;
  EXPECT_EQ(again, "written to " + svg + "\nwritten to " + trace + "\n");
  EXPECT_EQ(read_file(svg).substr(0, 4), "<svg");
  EXPECT_FALSE(nlohmann::json::parse(read_file(trace)).at("traceEvents").empty());
}

TEST(SimulateCommand, RunsAScheduleOfTheUsersOwn) {
  const std::string own = write("own.txt", "worker 0: F0 B0 F1 B1\nworker 1: F0 B0 F1 B1\n");
  const Answer answer = call("simulate" + kInputs + "--system gpipe --stages 2 --schedule " + own);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("2 minibatches in "), std::string::npos) << answer.out;
  const Answer grid = call("schedule --stages 2 --schedule " + own);
  EXPECT_NE(grid.out.find("worker 0  F0          B0 ── F1          B1 ──\n"), std::string::npos)
      << grid.out;
}

TEST(ScheduleCommand, ItsPictureCountsInUnits) {
  const std::string svg = scratch("units.svg").string();
  const Answer answer = call("schedule --stages 4 --svg " + svg);
  ASSERT_EQ(answer.code, 0) << answer.err;
  const std::string picture = read_file(svg);
  EXPECT_NE(picture.find(">pipedream 1×4<"), std::string::npos) << picture;
  EXPECT_NE(picture.find(">time, units<"), std::string::npos) << picture;
  EXPECT_NE(picture.find(" with weight version 0: 0 units to 1 unit (1 unit)<"), std::string::npos)
      << picture;
}

TEST(CompareCommand, ShowsAllSystemsAndMarksTheChoice) {
  const Answer answer = call("compare" + kInputs);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("\n▶  pipedream "), std::string::npos) << answer.out;
  const Answer json = call("compare --json" + kInputs);
  const auto parsed = nlohmann::json::parse(json.out);
  EXPECT_EQ(parsed.at("auto"), "pipedream");
  const auto systems = nlohmann::json::parse(call("systems --json").out).at("systems");
  ASSERT_EQ(parsed.at("runs").size(), systems.size());
  for (const auto& run : parsed.at("runs")) {
    EXPECT_TRUE(run.at("measured").is_null());
    EXPECT_GT(run.at("simulated").at("samples_per_second").get<double>(), 0) << run.at("system");
  }
}

TEST(ScheduleCommand, PrintsAGridOrPrograms) {
  EXPECT_EQ(call("schedule --stages 2 --microbatches 3").out,
            "pipedream 1-1, a forward takes 1 unit, a backward 2, busy 75.0 % of the time\n\n"
            "time      0  1  2  3  4  5  6  7  8  9  10 11\n"
            "worker 0  F0 F1       B0 ── F2 B1 ──    B2 ──\n"
            "worker 1     F0 B0 ── F1 B1 ── F2 B2 ──\n");
  EXPECT_EQ(call("schedule --system gpipe --stages 2 --microbatches 2 --text").out,
            "worker 0: F0@0 F0.1@0 B0@0 B0.1@0 U0>1\nworker 1: F0@0 F0.1@0 B0@0 B0.1@0 U0>1\n");
}

// The plans of pipedream and dapple use workers 0 to 7 at most; the plan of dp-bsp uses all
// workers.
TEST(SimulateCommand, SaysWhenAStragglerHasNothingToDo) {
  const Answer unused = call("simulate" + kInputs + "--system pipedream --straggler 12:0.5");
  EXPECT_EQ(unused.code, 0);
  EXPECT_EQ(unused.err,
            "--straggler 12:0.5: pipedream 7-1 does not use that worker, so it changes nothing "
            "there\n");
  EXPECT_EQ(call("simulate" + kInputs + "--system pipedream --straggler 3:0.5").err, "");
  const Answer compared = call("compare" + kInputs + "--straggler 12:0.5");
  EXPECT_NE(compared.err.find("--straggler 12:0.5: pipedream 7-1, dapple 3-1, "), std::string::npos)
      << compared.err;
  EXPECT_EQ(compared.err.find("dp-bsp"), std::string::npos) << compared.err;
}

TEST(ScheduleCommand, PrintsThePicturesOfTheDocument) {
  const std::string text = read_file(PD_SOURCE_DIR "/docs/systems.md");
  const std::string prompt = "    $ pipedream ";
  int pictures = 0;
  for (std::size_t at = 0; (at = text.find(prompt, at)) != std::string::npos; ++pictures) {
    at += prompt.size();
    const std::size_t end = text.find('\n', at);
    const std::string command = text.substr(at, end - at);
    std::string indented = "\n";
    std::istringstream lines(call(command).out);
    for (std::string line; std::getline(lines, line);)
      indented += (line.empty() ? "" : "    ") + line + "\n";
    EXPECT_EQ(text.substr(end, indented.size()), indented) << command;
  }
  EXPECT_GE(pictures, 9);
}

TEST(ScheduleCommand, NamesTheFlagThatAFileOfOtherStagesWants) {
  const std::string two = write("two.txt", "worker 0: F0 B0\nworker 1: F0 B0\n");
  const std::string five = write("five.txt", "worker 0: F0 B0\nworker 4: F0 B0\n");
  const std::string wrong = write("wrong.txt", "worker 0: F0 B0\nworker 1: B0\n");
  expect_all(
      {{"schedule --schedule " + two, 65, "is read for 4 workers and speaks of 2: try --stages 2"},
       {"schedule --schedule " + five, 65, "speaks of 5: try --stages 5"}});
  EXPECT_EQ(call("schedule --stages 2 --schedule " + two).code, 0);
  EXPECT_EQ(call("schedule --stages 2 --schedule " + wrong).err.find("--stages"),
            std::string::npos);
}

TEST(SimulateCommand, EveryFailureHasItsExitCodeOneMessageAndNoOutput) {
  const std::string plan = scratch("gpipe.json").string();
  ASSERT_EQ(call("plan" + kInputs + "--system gpipe --stages 2 -o " + plan).code, 0);
  const auto edited = [&](const std::string& name, auto edit) {
    auto json = nlohmann::json::parse(read_file(plan));
    edit(json);
    return write(name, json.dump());
  };
  const std::string unknown = edited("unknown.json", [](auto& json) { json["system"] = "gpipes"; });
  const std::string cut = edited("cut.json", [](auto& json) { json["system"] = "mp"; });
  const std::string many = edited("many.json", [](auto& json) { json["microbatches"] = 65; });
  const std::string waits = write("waits.txt", "worker 0: F0 B0 F1 B1\nworker 1: F0 F1 B0 B1\n");
  const std::string gaps = write("gaps.txt", "worker 0: F0.1 B0.1\nworker 1: F0.1 B0.1\n");
  const std::string simulate = "simulate" + kInputs;
  expect_all({
      {simulate + "--plan " + unknown, 65, "unknown.json: system: there is no system 'gpipes'"},
      {simulate + "--plan " + cut, 78, "it does not cut minibatches"},
      {simulate + "--plan " + many, 78, "they have only 64 samples"},
      {simulate + "--plan " + plan + " --system gpipe", 2, "--plan"},
      {simulate + "--system gpipe --stages 2 --schedule " + waits, 65, "which needs"},
      {simulate + "--system gpipe --stages 2 --schedule " + gaps, 65, "cut alike"},
      {simulate + "--system gpipe --microbatches 2 --schedule " + gaps, 2, "excludes"},
      {simulate + "--system gpipe --vertical-sync", 2, "--vertical-sync is for pipedream"},
      {simulate + "--straggler 16:0.5", 2, "there are only 16 workers"},
      {simulate + "--straggler 3:0.5 --straggler 3:2", 2, "was named before"},
      {simulate + "--straggler x", 2, "wanted WORKER:SPEED"},
      {simulate + "--jitter 101", 2, "from 0 to 100"},
      {simulate + "--svg /dev/null/a.svg", 74, "Not a directory"},
      {simulate + "--svg " + plan, 2, "gpipe.json: that file exists and is no picture"},
      {simulate + "--trace " + plan, 2, "gpipe.json: that file exists and is no trace"},
      {"compare", 2,
       "wanted --profile FILE and --cluster FILE or --workers N to simulate, or --run"},
      {"compare" + kInputs + "--link 1Gbit/s", 2, "compare --link is for --run"},
      {"compare --model mlp", 2, "compare --model is for --run, which really trains: add --run"},
      {"compare" + kInputs + "--stragler 1:2", 2, "did you mean '--straggler'?"},
      {"compare" + kInputs + "--minibatches 1000000001", 2, "at most 1000000000 can be simulated"},
      {"compare" + kInputs + "--system gpipe", 2, "compare has no --system: it runs all systems"},
      {simulate + "--svg a --trace a", 2, "the same file"},
      {simulate + "--minibatches 100000000 --svg " + scratch("long.svg").string(), 78,
       "choose --minibatches"},
      {"compare" + kInputs + "--memory 1MiB", 78, "no system has a plan for this"},
      {"schedule --system auto", 2, "one must be named"},
      {"schedule --system gpipe --chunks 2", 2, "--chunks means nothing to gpipe"},
      {"schedule --replicas 2-0", 2, "--replicas: wanted"},
      {"schedule --stages 1000 --minibatches 10000", 78, "too long to print"},
  });
}

}  // namespace
}  // namespace pipedream
