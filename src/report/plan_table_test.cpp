#include "report/plan_table.h"

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

using systems::Planned;

constexpr Bytes mib(std::int64_t count) { return Bytes{count << 20}; }

// Returns data → conv1 → conv2 → a classifier, with 1, 2 and 100 MiB of weights.
profile::Profile tiny() {
  graph::Builder builder;
  profile::Profile profile;
  profile.model = "tiny";
  profile.batch = 32;
  builder.add_input("data", {{"out", {}, Bytes{0}}});
  profile.costs.emplace_back();
  const std::vector<std::pair<std::string, std::int64_t>> layers{
      {"conv1", 1}, {"conv2", 2}, {"a classifier with a long name", 100}};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    builder.add_layer(layers[i].first, "", {{"out", {}, mib(8)}});
    builder.add_edge(id_at<LayerId>(i), 0, id_at<LayerId>(i + 1));
    profile.costs.emplace_back();
    profile.costs.back().weights = mib(layers[i].second);
  }
  profile.graph = std::move(builder).build();
  return profile;
}

cluster::Cluster two_by_two() {
  return {"lab",
          {{.name = "server", .count = 2, .bandwidth = {10e9}},
           {.name = "network", .count = 2, .bandwidth = {1.25e9}, .shared = true}},
          std::vector<cluster::Device>(4, {mib(1024), 1})};
}

// Returns the plan 3-1: a stage with three replicas, then one with one worker.
Planned three_and_one() {
  Planned planned;
  planned.system = "pipedream";
  planned.plan.system = "pipedream";
  planned.plan.stages = {
      {{LayerId{1}, LayerId{2}}, {WorkerId{0}, WorkerId{1}, WorkerId{2}}, 2, false},
      {{LayerId{3}}, {WorkerId{3}}, 1, false}};
  plan::Prediction& prediction = planned.answer.prediction;
  prediction.per_minibatch = Seconds(0.016);
  prediction.limit = plan::Limit::kCompute;
  prediction.limiting_stage = 0;
  prediction.bytes_per_minibatch = static_cast<double>(mib(20).count);
  prediction.busiest = {1, 1, static_cast<double>(mib(12).count), Seconds(0.010)};
  prediction.minibatches_per_update = 3;
  plan::StagePrediction first;
  first.forward = Seconds(0.016);
  first.backward = Seconds(0.032);
  first.exchange = Seconds(0.004);
  first.transfer = Seconds(0.0068);
  first.sent_bytes = static_cast<double>(mib(8).count);
  first.memory = {mib(6), mib(6), mib(3), mib(32), mib(0), mib(16)};
  first.memory_limit = mib(1024);
  first.depth = 2;
  plan::StagePrediction last;
  last.forward = Seconds(0.002);
  last.backward = Seconds(0.003);
  last.memory = {mib(100), mib(100), mib(100), mib(16), mib(16), mib(16)};
  last.memory_limit = mib(1024);
  prediction.stages = {first, last};
  planned.answer.objective = Seconds(0.016);
  planned.answer.bound = Seconds(0.016);
  planned.times.predicted = Seconds(0.016);
  planned.data_parallel = systems::Times{Seconds(0.040), {}};
  return planned;
}

const std::string kStages =
    "tiny on lab: pipedream 3-1\n"
    "\n"
    "stage  layers                    replicas  workers  compute  per minibatch  weights   memory  "
    "in flight\n"
    "    0  conv1 … conv2 (2)                3  0–2        48 ms          16 ms    3 MiB   63 MiB  "
    "        2\n"
    "    1  a classifier with a lon…         1  3           5 ms           5 ms  100 MiB  348 MiB  "
    "        1\n"
    "\n";

TEST(PlanTable, ShowsStagesThePredictionAndItsLimit) {
  EXPECT_EQ(plan_table(three_and_one(), tiny(), two_by_two(), false),
            kStages +
                "predicted   16 ms per minibatch, 2,000 samples/s\n"
                "            2.50 × data parallelism (40 ms per minibatch)\n"
                "limited by  the compute of stage 0\n"
                "on links    20 MiB per minibatch\n"
                "quality     best of its kind, proved\n");
}

TEST(PlanTable, OfAFileSaysTheSameOfTheStages) {
  Planned planned = three_and_one();
  planned.plan.microbatches = 4;
  const plan::PlanFile file = systems::plan_file_of(planned, tiny(), 5, Seconds(0));
  const std::string stages = kStages.substr(kStages.find('\n'));
  EXPECT_EQ(plan_file_table(file, tiny().graph),
            "tiny on 5 workers: pipedream 3-1" + stages +
                "predicted   16 ms per minibatch, 2,000 samples/s, 2.50 × data parallelism\n"
                "each minibatch is cut into 4 microbatches\n");
}

TEST(PlanTable, ExplainsTimeAndMemoryOfEachStage) {
  const std::string plain = plan_table(three_and_one(), tiny(), two_by_two(), false);
  EXPECT_EQ(
      plan_table(three_and_one(), tiny(), two_by_two(), true),
      plain +
          "\n"
          "Time of one minibatch on one replica\n"
          "stage  forward  backward  averaging, per round  sends, per minibatch  one transfer  "
          "longest\n"
          "    0    16 ms     32 ms                  4 ms                 8 MiB        6.8 ms  "
          "compute\n"
          "    1     2 ms      3 ms                     –                     –             –  "
          "compute\n"
          "\n"
          "Memory of one worker at its peak\n"
          "stage  weights  gradients  optimiser  activations  received  working   in all     of\n"
          "    0    6 MiB      6 MiB      3 MiB       32 MiB       0 B   16 MiB   63 MiB  1 GiB  "
          "6.2 %\n"
          "    1  100 MiB    100 MiB    100 MiB       16 MiB    16 MiB   16 MiB  348 MiB  1 GiB  "
          "34.0 %\n");
}

// Returns the rest of the line that begins with `start`.
std::string line_of(const std::string& text, const std::string& start) {
  const std::size_t at = text.find("\n" + start);
  if (at == std::string::npos) return "no such line in:\n" + text;
  const std::size_t begin = at + 1 + start.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string limit_of(const Planned& planned) {
  return line_of(plan_table(planned, tiny(), two_by_two(), false), "limited by  ");
}

TEST(PlanTable, NamesEveryKindOfLimit) {
  Planned planned = three_and_one();
  plan::Prediction& prediction = planned.answer.prediction;
  prediction.limit = plan::Limit::kExchange;
  EXPECT_EQ(limit_of(planned), "the averaging of stage 0's gradients");
  prediction.limit = plan::Limit::kLoop;
  EXPECT_EQ(limit_of(planned),
            "the way of a minibatch from stage 0 to the end and back with 2 in flight");
  prediction.limit = plan::Limit::kLink;
  EXPECT_EQ(limit_of(planned),
            "the link of server 1 in its network (10 Gbit/s): 12 MiB per minibatch");
  prediction.busiest.level = 0;
  EXPECT_EQ(limit_of(planned),
            "the link of worker 1 in its server (80 Gbit/s): 12 MiB per minibatch");
  prediction.limit = plan::Limit::kLatency;
  EXPECT_EQ(limit_of(planned), "one minibatch passing all stages, forth and back");
  prediction.microbatches = 4;
  EXPECT_EQ(limit_of(planned), "filling and draining the pipeline for 4 microbatches");
}

TEST(PlanTable, ComparesSimulatedTimesIfThereAreAny) {
  Planned planned = three_and_one();
  planned.times.simulated = Seconds(0.020);
  planned.data_parallel->simulated = Seconds(0.030);
  EXPECT_NE(plan_table(planned, tiny(), two_by_two(), false)
                .find("predicted   16 ms per minibatch, 2,000 samples/s\n"
                      "simulated   20 ms per minibatch, 1,600 samples/s\n"
                      "            1.50 × data parallelism (30 ms per minibatch)\n"),
            std::string::npos);
}

TEST(PlanTable, SaysThatDataParallelismDoesNotFit) {
  Planned planned = three_and_one();
  planned.data_parallel.reset();
  EXPECT_EQ(line_of(plan_table(planned, tiny(), two_by_two(), false), "            "),
            "data parallelism does not fit the memory");
}

TEST(PlanTable, SaysHowManyMicrobatchesAndWhoRecomputes) {
  Planned planned = three_and_one();
  planned.plan.microbatches = 8;
  planned.plan.stages[1].recompute = true;
  const std::string text = plan_table(planned, tiny(), two_by_two(), false);
  EXPECT_EQ(line_of(text, "each minibatch is cut into"), " 8 microbatches");
  EXPECT_NE(text.find("348 MiB (recomputes)  "), std::string::npos) << text;
  EXPECT_EQ(text.find("63 MiB (recomputes)  "), std::string::npos) << text;
}

TEST(PlanTable, SaysHowFarTheBestCanBe) {
  Planned planned = three_and_one();
  planned.answer.bound = Seconds(0.0125);
  EXPECT_EQ(line_of(plan_table(planned, tiny(), two_by_two(), false), "quality     "),
            "within 28.0 % of the best of its kind");
  planned.every_cut = false;
  EXPECT_EQ(line_of(plan_table(planned, tiny(), two_by_two(), false), "quality     "),
            "within 28.0 % of the best of its kind (cuts along one order of a wide network)");
}

TEST(PlanTable, SaysWhatOtherCostModelsPredict) {
  Planned planned = three_and_one();
  planned.cost_model = cost::CostModel::kPaper;
  planned.times.predicted = planned.answer.objective = Seconds(0.020);
  planned.answer.bound = planned.answer.objective;
  EXPECT_EQ(plan_table(planned, tiny(), two_by_two(), false),
            kStages +
                "predicted   20 ms per minibatch, 1,600 samples/s\n"
                "            2.00 × data parallelism (40 ms per minibatch)\n"
                "            by the cost model 'paper'; by ours 16 ms\n"
                "on links    20 MiB per minibatch\n"
                "quality     best of its kind, proved\n");
}

std::string workers_of(const std::vector<int>& workers) {
  Planned planned = three_and_one();
  planned.plan.stages[0].workers.clear();
  for (const int worker : workers) planned.plan.stages[0].workers.push_back(WorkerId{worker});
  const std::string text = plan_table(planned, tiny(), two_by_two(), false);
  const std::string row = line_of(text, "    0  conv1 … conv2 (2)  ");
  const std::size_t begin = row.find("  ", row.find_first_not_of(' ')) + 2;
  return row.substr(begin, row.find("  ", begin) - begin);
}

TEST(PlanTable, ShowsWorkersInAscendingRuns) {
  EXPECT_EQ(workers_of({7}), "7");
  EXPECT_EQ(workers_of({7, 8}), "7–8");
  EXPECT_EQ(workers_of({4, 0, 2, 1, 6, 5}), "0–2, 4–6");  // in any order
  EXPECT_EQ(workers_of({0, 2, 4}), "0, 2, 4");
  EXPECT_EQ(workers_of({0, 2, 4, 6, 8, 10, 12, 14, 16}), "0, 2, 4, 6, 8, 10, 12, …");
}

TEST(PlanTable, NamesWhatTakesLongestOnAStage) {
  const auto longest = [](const Planned& planned) {
    const std::string text = plan_table(planned, tiny(), two_by_two(), true);
    const std::string row = line_of(text.substr(text.find("Time of")), "    0  ");
    return row.substr(row.rfind(' ') + 1);
  };
  Planned planned = three_and_one();
  plan::StagePrediction& stage = planned.answer.prediction.stages[0];
  EXPECT_EQ(longest(planned), "compute");
  stage.exchange = Seconds(0.1);
  EXPECT_EQ(longest(planned), "averaging");
  stage.transfer = Seconds(0.2);
  EXPECT_EQ(longest(planned), "transfer");
}

TEST(CandidateTable, MarksTheChosenAndListsRefusals) {
  Planned data_parallel = three_and_one();
  data_parallel.system = data_parallel.plan.system = "dp-bsp";
  data_parallel.plan.stages = {{{LayerId{1}, LayerId{2}, LayerId{3}},
                                {WorkerId{0}, WorkerId{1}, WorkerId{2}, WorkerId{3}},
                                1,
                                false}};
  data_parallel.times.predicted = data_parallel.answer.objective = Seconds(0.040);
  data_parallel.answer.prediction.minibatches_per_update = 4;
  data_parallel.answer.prediction.stages.pop_back();
  systems::Choice choice;
  choice.candidates.push_back({&systems::find_system("pipedream"), three_and_one()});
  choice.candidates.push_back(
      {&systems::find_system("gpipe"), plan::out_of_memory({StageId{1}, Bytes{2048}})});
  choice.candidates.push_back({&systems::find_system("dp-bsp"), data_parallel});
  choice.candidates.push_back({&systems::find_system("mp"), plan::Refusal{"no reason", {}}});
  choice.best = 0;
  EXPECT_EQ(candidate_table(choice, tiny()),
            "   system     plan  predicted  simulated             rate  × dp-bsp  updates behind  "
            "most memory  minibatches/update\n"
            "▶  pipedream  3-1       16 ms          –  2,000 samples/s      2.50               2  "
            "    348 MiB                   3\n"
            "   dp-bsp     4         40 ms          –    800 samples/s      1.00            none  "
            "     63 MiB                   4\n"
            "\n"
            "gpipe: no plan fits the memory: the best attempt misses by 2 KiB (2048 bytes) on "
            "stage 1\n"
            "mp: no reason\n"
            "\n"
            "▶ the choice of `system` auto\n");
}

TEST(CandidateTable, HasNoRatioWhereDataParallelismDoesNotFit) {
  Planned planned = three_and_one();
  planned.data_parallel.reset();
  auto& stages = planned.answer.prediction.stages;
  std::swap(stages[0], stages[1]);  // the largest memory comes first
  planned.times.simulated = Seconds(0.020);
  systems::Choice choice;
  choice.candidates.push_back({&systems::find_system("pipedream"), planned});
  EXPECT_EQ(candidate_table(choice, tiny()),
            "   system     plan  predicted  simulated             rate  × dp-bsp  updates behind  "
            "most memory  minibatches/update\n"
            "   pipedream  3-1       16 ms      20 ms  1,600 samples/s         –               2  "
            "    348 MiB                   3\n"
            "\n"
            "▶ the choice of `system` auto\n");
}

TEST(RateText, CountsSamplesWhereTheBatchIsKnown) {
  profile::Profile profile;
  EXPECT_EQ(rate_text(profile, Seconds(0.25)), "4 minibatches/s");
  EXPECT_EQ(rate_text(profile, Seconds(8)), "0.125 minibatches/s");
  profile.batch = 128;
  EXPECT_EQ(rate_text(profile, Seconds(0.25)), "512 samples/s");
  EXPECT_EQ(rate_text(profile, Seconds(0.3)), "426.7 samples/s");
}

}  // namespace
}  // namespace pipedream::report
