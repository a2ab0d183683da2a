// Workers that are killed, stopped or cut off, and trainings that `launch` brings through it
// (docs/runtime.md, docs/checkpoints.md).
#include <csignal>
#include <fstream>

#include "background_testing.h"
#include "cli/launch_words.h"
#include "core/error.h"
#include "train_command_line_testing.h"

namespace pipedream {
namespace {

namespace fs = std::filesystem;
using cli::HostSlots;
using cli::Words;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

#define PD_NEEDS_MPIRUN \
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun"

const std::string kPipeline =
    "train --model mlp --inputs 20 --hidden 16 --batch 16 --profile-seconds 0.1 --system pipedream "
    "--straight --no-evaluation ";

// The size of a file; 0 if there is none.
std::uintmax_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

// Whether a process has ended, perhaps without a parent that asks how.
bool is_gone(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  return !std::getline(file, stat) || has(stat.substr(stat.rfind(')')), ") Z ");
}

double seconds_since(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - time).count();
}

// A training of two processes that has begun to train.
class TwoProcesses {
 public:
  TwoProcesses(const std::string& name, const std::string& flags)
      : run_(scratch(name)), training_(kPipeline + flags + " --out " + run_.string(), mpirun(2)) {
    EXPECT_TRUE(comes_true([&] {
      return !training_.is_running() ||
             (is_there(run_ / "metrics.jsonl") && !fs::is_empty(run_ / "metrics.jsonl"));
    }));
    EXPECT_TRUE(training_.is_running()) << training_.err();
    workers_ = training_.children();
    EXPECT_EQ(workers_.size(), 2u);
  }
  [[nodiscard]] Background& training() { return training_; }
  [[nodiscard]] pid_t worker(std::size_t rank) const { return workers_.at(rank); }
  [[nodiscard]] const fs::path& run() const { return run_; }
  // Expects that neither process is left.
  void expect_nobody_left() const {
    for (const pid_t each : workers_)
      EXPECT_TRUE(comes_true([&] { return is_gone(each); })) << each;
  }

 private:
  fs::path run_;
  Background training_;
  std::vector<pid_t> workers_;
};

TEST(Fault, AKilledWorkerIsNamedWithItsOpAndAllEndSoon) {
  PD_NEEDS_MPIRUN;
  for (const std::size_t rank : {0u, 1u}) {
    TwoProcesses job("killed_worker" + std::to_string(rank), "--epochs 100000");
    const auto began = std::chrono::steady_clock::now();
    ::kill(job.worker(rank), SIGKILL);
    EXPECT_EQ(WEXITSTATUS(job.training().wait()), 128 + SIGKILL);
    EXPECT_LT(seconds_since(began), 5);
    const std::string err = job.training().err();
    EXPECT_TRUE(has(err, "pipedream: worker " + std::to_string(rank) + " (process " +
                             std::to_string(job.worker(rank)) + " on "))
        << err;
    EXPECT_TRUE(has(err, ") was killed or crashed in ")) << err;  // an op: a compute or a message
    EXPECT_TRUE(has(err, " (stage " + std::to_string(rank) + ", minibatch ")) << err;
    EXPECT_FALSE(has(err, "interrupted")) << err;
    job.expect_nobody_left();
  }
}

TEST(Fault, AStoppedWorkerIsFoundAndWhoWaitedForItIsNamed) {
  PD_NEEDS_MPIRUN;
  TwoProcesses job("stopped_worker", "--epochs 100000 --patience 2");
  ::kill(job.worker(1), SIGSTOP);
  EXPECT_EQ(WEXITSTATUS(job.training().wait()), 69);
  const std::string err = job.training().err();
  EXPECT_TRUE(has(err, "pipedream: worker 0, 0:")) << err;
  EXPECT_TRUE(has(err, ": worker 1 sent nothing before the deadline")) << err;
  EXPECT_FALSE(has(err, "was killed or crashed")) << err;
  job.expect_nobody_left();
}

TEST(Fault, TimeInWhichAllAreStoppedDoesNotCount) {
  PD_NEEDS_MPIRUN;
  TwoProcesses job("all_stopped", "--minibatches 3000 --patience 1");
  for (const std::size_t rank : {0u, 1u}) ::kill(job.worker(rank), SIGSTOP);
  ASSERT_TRUE(job.training().is_running());
  ::usleep(8'000'000);  // longer than the shortest silence for which a process counts as lost
  for (const std::size_t rank : {1u, 0u}) ::kill(job.worker(rank), SIGCONT);
  EXPECT_EQ(WEXITSTATUS(job.training().wait()), 0) << job.training().err();
}

TEST(Fault, ASigtermToMpirunKillsNobodyByName) {
  PD_NEEDS_MPIRUN;
  TwoProcesses job("terminated", "--epochs 100000");
  job.training().signal(SIGTERM);
  (void)job.training().wait();
  const std::string err = job.training().err();
  EXPECT_TRUE(has(err, "pipedream: interrupted while training mlp with pipedream: ")) << err;
  EXPECT_FALSE(has(err, "was killed or crashed")) << err;
  job.expect_nobody_left();
}

TEST(LaunchWords, HostsAreParsed) {
  EXPECT_EQ(cli::parse_hosts("a:2,b"), (std::vector<HostSlots>{{"a", 2}, {"b", 1}}));
  for (const std::string bad : {"", "a,", ":2", "a:0", "a:x", "a,a", "a:2:3"})
    EXPECT_THROW((void)cli::parse_hosts(bad), BadUsage) << bad;
}

TEST(LaunchWords, ATrainingGoesOnInItsFolder) {
  const Words begun{"train", "--model", "mlp", "--out=run", "--overwrite", "--weights", "w"};
  EXPECT_EQ(cli::run_folder_of(begun), "run");
  EXPECT_EQ(cli::continued(begun, true),
            (Words{"train", "--model", "mlp", "--resume", "auto", "--out", "run"}));
  EXPECT_EQ(cli::continued(begun, false),
            (Words{"train", "--model", "mlp", "--out=run", "--weights", "w", "--overwrite"}));
  const Words resumed{"train", "--resume", "run", "--force", "--batch", "8"};
  EXPECT_EQ(cli::run_folder_of(resumed), "run");
  EXPECT_EQ(cli::continued(resumed, true),
            (Words{"train", "--batch", "8", "--resume", "auto", "--out", "run"}));
  EXPECT_EQ(cli::run_folder_of({"train", "--resume", "run", "--out", "other"}), "other");
  EXPECT_EQ(cli::run_folder_of({"train", "--model", "mlp"}), "");
  EXPECT_EQ(cli::for_other_workers({"train", "--workers=4", "--plan", "p", "--seed", "1"}),
            (Words{"train", "--seed", "1"}));
}

TEST(LaunchWords, MpirunGetsHostsAndWhatIsPassedOn) {
  EXPECT_EQ(cli::mpirun_words({true, {"--mca", "x", "1"}}, 3, {{"a", 2}, {"b", 1}}, {"p", "train"}),
            (Words{"mpirun", "-n", "3", "--host", "a:2,b:1", "--oversubscribe", "--bind-to", "none",
                   "-x", "PIPEDREAM_LAUNCH", "--mca", "x", "1", "p", "train"}));
  EXPECT_EQ(cli::mpirun_words({true, {}}, 2, {}, {"p"}),
            (Words{"mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "-x",
                   "PIPEDREAM_LAUNCH", "--quiet", "p"}));
  EXPECT_EQ(cli::mpirun_words({false, {}}, 2, {}, {"p"}), (Words{"mpirun", "-n", "2", "p"}));
}

TEST(LaunchCommand, RefusesWhatItCannotUse) {
  PD_NEEDS_MPIRUN;
  expect_all({
      {"launch -n 2", 2, "wanted the training after the options"},
      {"launch train --model mlp", 2, "wanted -n PROCESSES or --hosts"},
      {"launch -n 3 --hosts a:2 train", 2, "-n 3 and --hosts with 2 processes"},
      {"launch -n 2 --restart 5 train", 2, "there is no option --restart"},
  });
}

// The processes of a training that `launch` runs: mpirun's children.
std::vector<pid_t> workers_of(const Background& launch) {
  for (const pid_t each : launch.children()) {
    const std::string id = std::to_string(each);
    std::istringstream ids(read_file("/proc/" + id + "/task/" + id + "/children"));
    std::vector<pid_t> found;
    for (pid_t worker = 0; ids >> worker;) found.push_back(worker);
    return found;
  }
  return {};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(LaunchCommand, BringsATrainingThroughTheLossOfWorkers) {
  PD_NEEDS_MPIRUN;
  const fs::path run = scratch("launched");
  const std::string training = kPipeline + "--minibatches 6000 --checkpoint-every 300 --out ";
  Background launch("launch -n 2 --restarts 2 " + training + run.string());
  for (int loss = 0; loss < 2; ++loss) {
    const std::uintmax_t before = size_of(run / "metrics.jsonl");
    ASSERT_TRUE(comes_true([&] {
      return !launch.is_running() ||
             (is_there(run / "checkpoints") && workers_of(launch).size() == 2 &&
              count_of(launch.err(), "restart") == static_cast<std::size_t>(loss) &&
              size_of(run / "metrics.jsonl") > before + 20'000);
    }));
    ASSERT_TRUE(launch.is_running()) << launch.err();
    ::kill(workers_of(launch).at(static_cast<std::size_t>(loss)), SIGKILL);
    ASSERT_TRUE(comes_true([&] {
      return !launch.is_running() ||
             count_of(launch.err(), "; restart ") > static_cast<std::size_t>(loss);
    }));
  }
  EXPECT_EQ(WEXITSTATUS(launch.wait()), 0) << launch.err();
  EXPECT_TRUE(has(launch.err(), "mpirun ended with 137; restart 2 of 2, from " + run.string() +
                                    "/checkpoints/step-"))
      << launch.err();
  const fs::path whole = scratch("launched_undisturbed");
  const Answer again = call_with(
      mpirun(2), "train --config " + (run / "config.json").string() + " --out " + whole.string());
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(read_file(run / "weights.safetensors"), read_file(whole / "weights.safetensors"));
}

TEST(LaunchCommand, EndsWith69WhenRestartsAreUsedUp) {
  PD_NEEDS_MPIRUN;
  const fs::path run = scratch("lost_for_good");
  Background launch("launch -n 2 --restarts 0 " + kPipeline + "--epochs 100000 --out " +
                    run.string());
  ASSERT_TRUE(comes_true([&] {
    return !launch.is_running() ||
           (is_there(run / "checkpoints") && workers_of(launch).size() == 2);
  }));
  ASSERT_TRUE(launch.is_running()) << launch.err();
  ::kill(workers_of(launch).at(0), SIGKILL);
  EXPECT_EQ(WEXITSTATUS(launch.wait()), 69) << launch.err();
  EXPECT_TRUE(has(launch.err(), "no restart is left")) << launch.err();
}

TEST(LaunchCommand, ASignalStopsAtACheckpoint) {
  PD_NEEDS_MPIRUN;
  for (const int number : {SIGTERM, SIGINT}) {
    const fs::path run = scratch("launched_and_stopped" + std::to_string(number));
    Background launch("launch -n 2 " + kPipeline + "--epochs 100000 --out " + run.string());
    ASSERT_TRUE(
        comes_true([&] { return !launch.is_running() || size_of(run / "metrics.jsonl") > 5000; }));
    ASSERT_TRUE(launch.is_running()) << launch.err();
    launch.signal(number);
    EXPECT_EQ(WEXITSTATUS(launch.wait()), 75) << launch.err();
    EXPECT_TRUE(has(launch.err(), "with the checkpoint " + run.string())) << launch.err();
  }
}

// Without checkpoints there is nothing to wait for.
TEST(LaunchCommand, ASignalEndsATrainingThatWritesNoCheckpoint) {
  PD_NEEDS_MPIRUN;
  const fs::path run = scratch("launched_without_checkpoints");
  Background launch("launch -n 2 " + kPipeline + "--epochs 100000 --checkpoint-every never --out " +
                    run.string());
  ASSERT_TRUE(
      comes_true([&] { return !launch.is_running() || size_of(run / "metrics.jsonl") > 5000; }));
  ASSERT_TRUE(launch.is_running()) << launch.err();
  launch.signal(SIGTERM);
  EXPECT_NE(launch.wait(), 0) << launch.err();
  EXPECT_TRUE(has(launch.err(), "interrupted while training mlp")) << launch.err();
  EXPECT_FALSE(has(launch.err(), "restart")) << launch.err();
}

std::string command_line_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/cmdline");
  std::string words;
  for (std::string word; std::getline(file, word, '\0');) words += word + " ";
  return words;
}

// The daemon of mpirun whose words hold `part` and which has started a worker for the folder `run`;
// −1 if there is none. It has a session of its own, so it is no child of mpirun's.
pid_t daemon_of(const fs::path& run, const std::string& part) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string id = entry.path().filename();
    if (id.find_first_not_of("0123456789") != id.npos) continue;
    if (!has(command_line_of(id), run.string()) || has(command_line_of(id), "launch")) continue;
    std::ifstream status(entry.path() / "status");
    std::string parent;
    for (std::string word; status >> word;)
      if (word == "PPid:") status >> parent;
    const std::string words = command_line_of(parent);
    if (has(words, "orted") && has(words, part)) return std::stoi(parent);
  }
  return -1;
}

// A script stands in for ssh: it runs commands on this machine, unless a file says that the host is
// dead.
TEST(LaunchCommand, PlansAnewForTheWorkersOfTheHostsThatAreLeft) {
  PD_NEEDS_MPIRUN;
  const fs::path run = scratch("fewer_hosts");
  const std::string dead = scratch("dead_").string();
  const std::string agent = write("agent.sh", "#!/bin/sh\nhost=$1; shift\n[ -e " + dead +
                                                  "$host ] && exit 255\nexec sh -c \"$*\"\n");
  fs::permissions(agent, fs::perms::owner_all);
  Background launch("launch --hosts host-a:1,host-b:1 --mpirun --mca plm rsh --mca plm_rsh_agent " +
                    agent + " " + kPipeline + "--minibatches 20000 --checkpoint-every 200 --out " +
                    run.string());
  ASSERT_TRUE(
      comes_true([&] { return !launch.is_running() || size_of(run / "metrics.jsonl") > 100'000; }));
  ASSERT_TRUE(launch.is_running()) << launch.err();
  write("dead_host-b", "");
  // The daemon of host-b, and with it that host's worker, is gone.
  const pid_t daemon = daemon_of(run, "ess_base_vpid 2 ");
  ASSERT_GT(daemon, 0);
  ::kill(daemon, SIGKILL);
  EXPECT_EQ(WEXITSTATUS(launch.wait()), 0) << launch.err();
  EXPECT_TRUE(has(launch.err(), "host-b does not answer, and 1 worker is left: planning anew"))
      << launch.err();
  EXPECT_TRUE(has(launch.err(), "the plan was made for other settings; a new plan is made"))
      << launch.err();
  EXPECT_TRUE(is_there(run / "weights.safetensors"));
}

}  // namespace
}  // namespace pipedream
