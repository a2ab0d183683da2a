#include "report/training_table.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pipedream::report {
namespace {

// Returns a run of two stages on one worker each. The first stage is a few updates behind, the
// second is not.
TrainingRun run_of(const std::string& system, double samples_per_second) {
  TrainingRun run;
  run.model = "tiny";
  run.plan.system = system;
  run.plan.stages = {{{LayerId{1}}, {WorkerId{0}}, 2, false},
                     {{LayerId{2}}, {WorkerId{1}}, 1, false}};
  run.batch = 32;
  run.measured.minibatches = 20;
  run.measured.samples = 640;
  run.measured.timed_end = 20;
  run.measured.samples_per_second = samples_per_second;
  run.measured.samples_per_update = 64;
  run.measured.memory = {Bytes{1 << 20}, Bytes{2 << 20}};
  run.measured.staleness = {{2, 1.5}, {0, 0}};
  run.measured.loss = 0.25;
  return run;
}

// Returns the words of the first line that contains `word`.
std::vector<std::string> line_with(const std::string& text, const std::string& word) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(word) == std::string::npos) continue;
    std::istringstream words(line);
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

TEST(TrainingComparison, SaysHowLongEachTrainedAndWithWhichBatch) {
  const std::string table = training_comparison_table({run_of("pipedream", 100)}, {}, "");
  EXPECT_EQ(table.find("tiny: 640 samples with each system, `batch` 32\n"), 0u) << table;
  EXPECT_EQ(table.find("held-out"), std::string::npos) << table;
}

TEST(TrainingComparison, HasWhatHeldOutSamplesLose) {
  TrainingRun run = run_of("pipedream", 100);
  run.measured.held_out_loss = 0.375;
  const std::string table = training_comparison_table({run}, {}, "");
  EXPECT_NE(table.find("held-out"), std::string::npos) << table;
  EXPECT_EQ(line_with(table, "pipedream").back(), "0.3750") << table;
}

TEST(TrainingComparison, HasWhatATargetTook) {
  TrainingRun reached = run_of("pipedream", 100);
  reached.measured.goal =
      systems::GoalResult{.figure = "loss", .wanted = 1, .reached = true, .samples = 320};
  reached.measured.goal->training = Seconds(2.5);
  TrainingRun missed = run_of("2bw", 100);
  missed.measured.goal = systems::GoalResult{.figure = "loss", .wanted = 1};
  const std::string table = training_comparison_table({reached, missed}, {}, "");
  EXPECT_NE(table.find("samples to target  time to target"), std::string::npos) << table;
  const auto line = line_with(table, "pipedream");
  EXPECT_EQ(line.at(line.size() - 3), "320") << table;
  EXPECT_EQ(line_with(table, "2bw").back(), "–") << table;
  EXPECT_EQ(training_comparison_table({run_of("pipedream", 1)}, {}, "").find("target"),
            std::string::npos);
}

TEST(TrainingTable, SaysWhichMinibatchesItsTimesAreOf) {
  TrainingRun run = run_of("pipedream", 100);
  const std::string whole = training_table(run);
  EXPECT_NE(whole.find("\ntimed        all minibatches\n"), std::string::npos) << whole;
  run.measured.first_timed = 16;
  const std::string part = "minibatches 16–19 of 0–19";
  EXPECT_NE(training_table(run).find("timed        " + part), std::string::npos);
  EXPECT_NE(training_line(run).find("; " + part), std::string::npos) << training_line(run);
  EXPECT_EQ(training_json(run).at("first_timed_minibatch"), 16);
  EXPECT_NE(training_comparison_table({run}, {}, "").find("; times are of " + part + "\n"),
            std::string::npos);
  run.measured.first_timed = 19;
  EXPECT_NE(training_line(run).find("minibatch 19 of 0–19"), std::string::npos);
  run.measured.first_timed = 0;
  run.measured.timed_end = 10;
  EXPECT_NE(training_line(run).find("minibatches 0–9 of 0–19"), std::string::npos);
  EXPECT_EQ(training_json(run).at("timed_minibatches"), 10);
}

TEST(TrainingTable, SaysWhyASmallNetworkIsSlowerThanSimulated) {
  const auto says_why = [](double measured, double simulated) {
    TrainingRun run = run_of("pipedream", measured);  // 64 samples per update
    run.simulated.emplace();
    run.simulated->samples_per_second = simulated;
    run.simulated->memory = run.measured.memory;
    return training_table(run).find("\nsmall        640 us per update are predicted") !=
           std::string::npos;
  };
  EXPECT_TRUE(says_why(70'000, 100'000));
  EXPECT_FALSE(says_why(90'000, 100'000)) << "near the prediction";
  EXPECT_FALSE(says_why(7'000, 10'000)) << "6.4 ms per update are not small";
}

// A run whose workers computed `compute` times as long as simulated, and `rate` times as fast.
std::string table_of_gap(double compute, double rate) {
  TrainingRun run = run_of("pipedream", 100 * rate);
  run.simulated.emplace();
  run.simulated->samples_per_second = 100;
  run.simulated->minibatches = 10;
  run.simulated->memory = run.measured.memory;
  const auto account = [](timeline::Summary& of, std::int64_t first, std::int64_t second) {
    of.workers = {{WorkerId{0}, Nanos{first}, Nanos{0}, {}},
                  {WorkerId{1}, Nanos{second}, Nanos{0}, {}}};
    of.busy = Nanos{first + second};
    of.idle.wait = Nanos{100};
  };
  account(run.simulated->summary, 1000, 1000);
  account(run.measured.summary, 2000, static_cast<std::int64_t>((2 * compute - 1) * 2000));
  EXPECT_NEAR(training_json(run).at("compute_over_simulated").get<double>(), compute, 1e-6);
  return training_table(run);
}

TEST(TrainingTable, SaysWhetherTheMachineOrThePlanWasAtFault) {
  EXPECT_NE(table_of_gap(1.25, 0.8).find(
                "compute      took 25.0 % longer than the profile says (worker 1: 50.0 %)"),
            std::string::npos);
  EXPECT_NE(table_of_gap(0.75, 1.3).find("compute      took 25.0 % less than the profile says"),
            std::string::npos);
  EXPECT_NE(table_of_gap(1, 0.8).find("idle         2.4 % of the workers' time, 4.8 % simulated"),
            std::string::npos);
  EXPECT_NE(table_of_gap(0.9, 0.8).find("\nidle "), std::string::npos)
      << "compute was faster, so waiting made the run slower";
  for (const std::string& fine :
       {table_of_gap(1.2, 1.2), table_of_gap(1, 0.97), table_of_gap(1.2, 0.96)}) {
    EXPECT_EQ(fine.find("\ncompute "), std::string::npos) << fine;
    EXPECT_EQ(fine.find("\nidle "), std::string::npos) << fine;
  }
}

TEST(TrainingTable, NamesThePlansBefore) {
  TrainingRun run = run_of("pipedream", 150);
  EXPECT_EQ(training_table(run).find("\nbefore "), std::string::npos);
  EXPECT_FALSE(training_json(run).contains("earlier_plans"));
  run.earlier = {{"2", 5, 90}, {"1-1", 8, 100}};
  const std::string table = training_table(run);
  EXPECT_NE(table.find("\nbefore       2 up to minibatch 5, 90.0 samples/s\n"
                       "before       1-1 up to minibatch 8, 100 samples/s\n"),
            std::string::npos)
      << table;
  const auto plans = training_json(run).at("earlier_plans");
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[1].at("config"), "1-1");
  EXPECT_EQ(plans[1].at("until_minibatch"), 8);
  EXPECT_EQ(plans[1].at("samples_per_second"), 100);
}

TEST(TrainingTable, ItsPictureNamesSystemAndPlan) {
  TrainingRun run = run_of("pipedream", 100);
  EXPECT_EQ(training_title(run), "tiny: pipedream 1-1, measured");
  run.plan.stages.resize(8, run.plan.stages.back());
  EXPECT_EQ(training_title(run), "tiny: pipedream 1×8, measured");
}

// The second worker runs a replica of both stages.
TEST(TrainingTable, TakesThePlansMemoryWhereNothingWasSimulated) {
  TrainingRun run = run_of("dapple", 100);
  run.plan.stages[0].workers = {WorkerId{0}, WorkerId{1}};
  EXPECT_TRUE(training_json(run).at("predicted_memory_bytes").empty());
  run.stage_memory = {Bytes{100}, Bytes{10}};
  EXPECT_EQ(training_json(run).at("predicted_memory_bytes").dump(), "[100,110]");
  run.simulated.emplace();
  run.simulated->memory = {Bytes{1}, Bytes{2}};
  EXPECT_EQ(training_json(run).at("predicted_memory_bytes").dump(), "[1,2]");
}

TEST(TrainingTable, AddsTheCopiesForCheckpointsToThePredictedMemory) {
  TrainingRun run = run_of("dapple", 100);
  run.stage_memory = {Bytes{100}, Bytes{10}};
  run.copies = {Bytes{5}, Bytes{7}};
  EXPECT_EQ(training_json(run).at("predicted_memory_bytes").dump(), "[105,17]");
}

TEST(TrainingTable, SaysWhatCheckpointsCost) {
  TrainingRun run = run_of("pipedream", 100);
  EXPECT_EQ(training_table(run).find("checkpoints"), std::string::npos);
  EXPECT_EQ(training_json(run).at("checkpoints"), 0);
  run.measured.checkpoints = 4;
  EXPECT_NE(training_table(run).find("\ncheckpoints  4 written\n"), std::string::npos);
  run.measured.drain = Seconds(0.3);
  run.predicted_drain = 0.25;
  EXPECT_NE(training_table(run).find("\ncheckpoints  4 written; draining the pipeline for one: "
                                     "costs 300 ms, predicted 250 ms\n"),
            std::string::npos)
      << training_table(run);
  EXPECT_EQ(training_json(run).at("drain_seconds"), 0.3);
  EXPECT_EQ(training_json(run).at("predicted_drain_seconds"), 0.25);
  EXPECT_TRUE(training_json(run).at("simulated_drain_seconds").is_null());
}

TEST(TrainingComparison, HasTheSamplesOfAnUpdateAndTheMeanStalenessOfTheWorstStage) {
  const std::string table = training_comparison_table({run_of("pipedream", 100)}, {}, "");
  EXPECT_NE(table.find("samples/update"), std::string::npos) << table;
  EXPECT_NE(table.find("updates behind"), std::string::npos) << table;
  const auto words = line_with(table, "pipedream");
  EXPECT_EQ(words.at(5), "64") << table;
  EXPECT_EQ(words.at(6), "1.5") << table;
}

TEST(TrainingComparison, HasTheSpeedUpOverDataParallelism) {
  const std::vector<TrainingRun> runs{run_of("pipedream", 150), run_of("dp-bsp", 100)};
  const auto line = line_with(training_comparison_table(runs, {}, "pipedream"), "pipedream");
  EXPECT_NE(std::find(line.begin(), line.end(), "1.50"), line.end());
  const auto all = training_comparison_json(runs, {{"mp", "why not"}}, "pipedream");
  EXPECT_EQ(all.at("runs").at(0).at("speedup_over_dp"), 1.5);
  EXPECT_EQ(all.at("runs").at(1).at("speedup_over_dp"), 1);
  EXPECT_TRUE(all.at("runs").at(2).at("speedup_over_dp").is_null());
  EXPECT_TRUE(
      training_comparison_json({runs[0]}, {}, "").at("runs").at(0).at("speedup_over_dp").is_null());
}

TEST(TrainingComparison, MarksTheChoiceOfAuto) {
  const std::vector<TrainingRun> runs{run_of("pipedream", 150), run_of("2bw", 200)};
  const std::string table = training_comparison_table(runs, {}, "2bw");
  EXPECT_EQ(line_with(table, "2bw").front(), "▶") << table;
  EXPECT_EQ(line_with(table, "pipedream").front(), "pipedream") << table;
  EXPECT_EQ(training_comparison_json(runs, {}, "2bw").at("auto"), "2bw");
  EXPECT_TRUE(training_comparison_json(runs, {}, "").at("auto").is_null());
}

TEST(TrainingComparison, HasSpeedTimesAndMemoryAsSimulatedToo) {
  TrainingRun run = run_of("2bw", 200);
  run.measured.summary.busy = std::chrono::seconds(1);
  run.simulated.emplace();
  run.simulated->samples_per_second = 190;
  run.simulated->summary.busy = std::chrono::seconds(3);
  run.simulated->summary.idle.transfer = std::chrono::seconds(1);
  run.simulated->memory = {Bytes{5}, Bytes{7}};
  const auto simulated = training_comparison_json({run}, {}, "").at("runs").at(0).at("simulated");
  EXPECT_EQ(simulated.at("samples_per_second"), 190);
  EXPECT_EQ(simulated.at("utilisation"), 0.75);
  EXPECT_EQ(simulated.at("busy"), 3);
  EXPECT_EQ(simulated.at("idle").at("transfer"), 1);
  EXPECT_EQ(simulated.at("peak_memory_bytes").dump(), "[5,7]");
  const std::string table = training_comparison_table({run}, {}, "");
  using Words = std::vector<std::string>;
  EXPECT_EQ(line_with(table, "2bw"),
            (Words{"2bw", "1-1", "200", "190", "–", "64", "1.5", "0.2500"}))
      << table;
  EXPECT_EQ(line_with(table.substr(table.find("Where the workers'")), "2bw"),
            (Words{"2bw", "100.0", "%", "75.0", "%", "0.0", "%", "0.0", "%", "0.0", "%", "0.0", "%",
                   "2", "MiB", "7", "B", "0", "B"}))
      << table;
  EXPECT_TRUE(training_comparison_json({run_of("2bw", 200)}, {}, "")
                  .at("runs")
                  .at(0)
                  .at("simulated")
                  .is_null());
}

TEST(TrainingComparison, SaysHowTheChoiceOfAutoDid) {
  const std::vector<TrainingRun> runs{run_of("pipedream", 150), run_of("2bw", 200)};
  EXPECT_NE(training_comparison_table(runs, {}, "2bw").find("auto: the fastest\n"),
            std::string::npos);
  EXPECT_NE(training_comparison_table(runs, {}, "pipedream")
                .find("auto: 25.0 % slower than the fastest, 2bw\n"),
            std::string::npos);
}

TEST(TrainingComparison, LeavesOutASpeedThatCouldNotBeTaken) {
  TrainingRun run = run_of("gpipe", 0);
  run.simulated.emplace();
  run.simulated->samples_per_second = 0;
  const std::string table = training_comparison_table({run}, {}, "");
  const auto words = line_with(table, "gpipe");
  for (const std::size_t rate : {2U, 3U}) EXPECT_EQ(words.at(rate), "–") << table;
}

}  // namespace
}  // namespace pipedream::report
