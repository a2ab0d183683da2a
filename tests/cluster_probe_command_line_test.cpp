// pipedream cluster probe as a user calls it, on threads and under mpirun (docs/cluster.md).
#include <csignal>

#include "background_testing.h"
#include "train_command_line_testing.h"

namespace pipedream {
namespace {

#define PD_NEEDS_MPIRUN \
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun"

const std::string kProbe = "cluster probe --seconds 0.02 ";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Expects that `file` has the cluster that the probe's JSON has.
void expect_same_cluster(const nlohmann::json& probed, const std::string& file) {
  EXPECT_EQ(json_of(call("cluster --json " + file)), probed.at("cluster"));
}

TEST(ClusterProbe, MeasuresThreadsAndWritesAClusterFileThatReadsBack) {
  const std::string file = scratch("threads.toml").string();
  const Answer answer = call(kProbe + "--workers 3 --json -o " + file);
  const auto json = json_of(answer);
  EXPECT_EQ(json.at("format"), "pipedream-probe");
  EXPECT_EQ(json.at("workers_per_host"), 3);
  EXPECT_EQ(json.at("workers").size(), 3u);
  EXPECT_GT(json.at("inside_hosts").at("latency_seconds"), 0);
  EXPECT_EQ(json.at("averaging").size(), 1u);
  EXPECT_TRUE(has(answer.err, "written to " + file)) << answer.err;
  expect_same_cluster(json, file);
  EXPECT_TRUE(has(read_file(file), ": cluster probe with 3 threads, device cpu, threads 1"))
      << file;
}

TEST(ClusterProbe, MeasuresTheProcessesOfMpirunAndPrintsOnce) {
  PD_NEEDS_MPIRUN;
  const std::string file = scratch("processes.toml").string();
  const Answer answer = call_with(mpirun(2), kProbe + "--json -o " + file);
  const auto json = json_of(answer);
  EXPECT_EQ(json.at("workers").size(), 2u);
  EXPECT_EQ(json.at("hosts").size(), 1u);
  EXPECT_EQ(json.at("between_hosts").size(), 0u);
  expect_same_cluster(json, file);
  const Answer table = call_with(mpirun(2), kProbe);
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(has(table.out, "inside a host")) << table.out;
  EXPECT_TRUE(has(table.out, "2 workers of one host: 2 workers")) << table.out;
}

TEST(ClusterProbe, ItsFileIsOneToTrainWith) {
  const std::string file = scratch("to_train.toml").string();
  ASSERT_EQ(call(kProbe + "--workers 2 -o " + file).code, 0);
  const auto trained = json_of(call(kMlp + "--minibatches 4 --workers 2 --json --cluster " + file));
  EXPECT_GT(trained.at("predicted_samples_per_second"), 0);
}

TEST(ClusterProbe, EveryFailureHasItsExitCodeAndOneMessage) {
  expect_all({
      {"cluster", 2, "cluster: wanted a cluster file to show, or 'probe' to measure one"},
      {"cluster probe", 2, "cluster probe: wanted workers to measure: start them with mpirun"},
      {"cluster probe --workers 1", 78, "wanted two workers or more"},
      {"cluster probe --workers 0", 2, "wanted a whole number from 1"},
      {"cluster probe --workers 2 --seconds 0", 2, "wanted a number from 0.01"},
      {"cluster probe --workers 2 --device tpu", 2, "there is no device 'tpu'"},
      {"cluster probe --workers 2 --device cuda:99", 78, "device cuda:99 was asked for"},
      {"cluster probe --workers 2 -o /dev/null/c.toml", 74, "/dev/null"},
      {"cluster probe --workers 2 -o -", 2, "wanted a file's name"},
      {"cluster probe --workers 2 --secnds 1", 2, "--secnds (did you mean '--seconds'?)"},
      {"cluster some.toml probe --workers 2", 2, "probe excludes FILE"},
      {"cluster ./probe", 74, "cannot read ./probe"},
  });
}

TEST(ClusterProbe, AFailureUnderMpirunIsPrintedOnce) {
  PD_NEEDS_MPIRUN;
  for (const auto& [launcher, flags, code, message] :
       std::vector<std::tuple<std::string, std::string, int, std::string>>{
           {mpirun(2), "-o /dev/null/c.toml", 74, "/dev/null"},
           {mpirun(2), "--workers 3", 2, "--workers 3: mpirun started 2 processes"},
           {mpirun(1), "", 78, "wanted two workers or more"}}) {
    const Answer answer = call_with(launcher, kProbe + flags);
    EXPECT_EQ(answer.code, code) << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_EQ(messages(answer.err), 1) << answer.err;
    EXPECT_TRUE(has(answer.err, message)) << answer.err;
  }
}

TEST(ClusterProbe, AKilledWorkerIsNamed) {
  PD_NEEDS_MPIRUN;
  Background probe("cluster probe --seconds 1.5", mpirun(2));
  ASSERT_TRUE(comes_true([&] { return !probe.is_running() || probe.children().size() == 2; }));
  // The first line of progress comes when both processes measure.
  ASSERT_TRUE(comes_true([&] { return !probe.is_running() || has(probe.err(), "measuring"); }));
  ASSERT_TRUE(probe.is_running()) << probe.err();
  const pid_t lost = probe.children().at(1);
  ::kill(lost, SIGKILL);
  EXPECT_EQ(WEXITSTATUS(probe.wait()), 128 + SIGKILL);
  EXPECT_TRUE(has(probe.err(), "pipedream: worker 1 (process " + std::to_string(lost) + " on "))
      << probe.err();
}

TEST(ClusterProbe, HelpSaysWhatThereIs) {
  EXPECT_TRUE(has(call("cluster --help").out, "probe"));
  EXPECT_TRUE(has(call("cluster probe --help").out, "--seconds"));
  EXPECT_TRUE(has(call("help cluster").out, "probe"));
}

}  // namespace
}  // namespace pipedream
