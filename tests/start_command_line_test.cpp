// How a training is started: what launchers are recognised, and what its processes compare before
// they train together (docs/runtime.md#what-starts-the-processes).
#include <fstream>

#include "cli/start.h"
#include "train_command_line_testing.h"

namespace pipedream {
namespace {

namespace fs = std::filesystem;
using cli::Words;
using transport::Launcher;
using transport::Start;

#define PD_NEEDS_MPIRUN \
  if (std::string(PD_MPIRUN).empty()) GTEST_SKIP() << "there is no mpirun"

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Expects that the program ends so with one message on stderr that has `part`.
void expect_refusal(const Answer& answer, int code, const std::string& part) {
  EXPECT_EQ(answer.code, code) << answer.err;
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(messages(answer.err), 1) << answer.err;
  EXPECT_TRUE(has(answer.err, part)) << answer.err;
}

Launcher launcher(Start start, std::optional<int> size, std::optional<int> here) {
  return {.start = start,
          .name = start == Start::kTorchrun ? "torchrun"
                  : start == Start::kSrun   ? "srun"
                  : start == Start::kMpi    ? "mpirun (Open MPI)"
                                            : "",
          .rank = 0,
          .size = size,
          .here = here,
          .first_host = "10.0.0.1"};
}

TEST(WrongStart, IsAnsweredWithTheLineToStartInstead) {
  struct Case {
    Launcher launcher;
    Words command;
    std::string answer;  // empty: nothing is wrong
  };
  const Launcher plain = launcher(Start::kPlain, {}, {});
  const Launcher mpi = launcher(Start::kMpi, 4, 2);
  const Launcher one_of_mpi = launcher(Start::kMpi, 1, 1);
  const Launcher here = launcher(Start::kTorchrun, 4, 4);
  const Launcher hosts = launcher(Start::kTorchrun, 6, 2);
  const Launcher unknown = launcher(Start::kTorchrun, {}, {});
  const Launcher srun = launcher(Start::kSrun, 3, {});
  const Words train{"train", "--model", "mlp", "--out", "my run"};
  const std::vector<Case> cases{
      {plain, train, ""},
      {mpi, train, ""},
      {here, train, "pipedream launch -n 4 train --model mlp --out 'my run'"},
      {hosts, train,
       "pipedream launch --hosts 10.0.0.1:2,HOST-2:2,HOST-3:2 train --model mlp --out 'my run'"},
      {unknown, train, "pipedream launch -n PROCESSES train"},
      {launcher(Start::kTorchrun, 1, 1), train, "pipedream launch -n 1 train"},
      {srun, train, "srun started 3 processes without PMIx or PMI2"},
      {srun, train, "pipedream launch -n 3 train --model mlp"},
      {here, {"compare", "--run"}, "mpirun -n 4 pipedream compare --run"},
      {here, {"compare", "--profile", "p"}, ""},
      {here, {"plan", "--profile", "p"}, ""},
      {here, {"train", "--help"}, ""},
      {here, {}, ""},
      // These are one process, whatever starts several of them.
      {mpi, {"profile", "--model", "mlp"}, "started it 4 times; start it once"},
      {srun, {"profile", "--model=mlp"}, "pipedream profile --model=mlp"},
      {mpi, {"profile", "--profile", "p"}, ""},
      {one_of_mpi, {"profile", "--model", "mlp"}, ""},
      {mpi, {"evaluate", "run"}, "evaluate uses threads of one process, and"},
      {mpi, {"generate", "run"}, "pipedream generate run"},
      {one_of_mpi, {"evaluate", "run"}, ""},
      {mpi, {"launch", "-n", "2", "train"}, "pipedream launch -n 2 train"},
      {plain, {"launch", "-n", "2", "train"}, ""},
  };
  for (const Case& each : cases) {
    const auto answer = cli::wrong_start(each.launcher, each.command);
    EXPECT_EQ(answer.has_value(), !each.answer.empty()) << each.answer << answer.value_or("");
    EXPECT_TRUE(has(answer.value_or(""), each.answer)) << *answer;
  }
}

const std::string kTorchrun =
    "env -u OMPI_COMM_WORLD_SIZE WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 "
    "MASTER_PORT=29500 TORCHELASTIC_RUN_ID=none ";

TEST(TrainCommand, UnderTorchrunSaysHowToLaunchAndEndsWith2) {
  expect_refusal(call_with(kTorchrun + "RANK=0 LOCAL_RANK=0 ", kMlp + "--system gpipe"), 2,
                 "\n  pipedream launch -n 2 train --model mlp --inputs 20 --hidden 16 --batch 16 "
                 "--profile-seconds 0.2 --system gpipe\n");
  const Answer second = call_with(kTorchrun + "RANK=1 LOCAL_RANK=1 ", kMlp);
  EXPECT_EQ(second.code, 2);
  EXPECT_EQ(second.err, "");
  expect_refusal(call_with(kTorchrun + "RANK=0 ", "profile --model mlp"), 2,
                 "torchrun started it 2 times");
}

TEST(TrainCommand, UnderSrunWithoutMpiSaysSoAndEndsWith2) {
  expect_refusal(
      call_with("env SLURM_JOB_ID=1 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 ", kMlp),
      2, "srun --mpi=pmix");
}

// Another MPI's launcher: each process is a world of its own, and would train alone.
TEST(TrainCommand, ProcessesThatMpiDoesNotJoinAreRefused) {
  PD_NEEDS_MPIRUN;
  const std::string folder = scratch("apart").string();
  expect_refusal(
      call_with("env PMI_RANK=0 PMI_SIZE=2 MPI_LOCALNRANKS=2 ", kMlp + "--out " + folder), 2,
      "mpirun (MPICH or Intel MPI) started 2 processes, and MPI has joined only 1");
  EXPECT_FALSE(fs::exists(folder));
}

TEST(TrainCommand, SaysWhatStartedItsWorkers) {
  PD_NEEDS_MPIRUN;
  const std::string train =
      kMlp + "--profile " + mlp_profile() + " --system pipedream --minibatches 4";
  const Answer processes = call_with(mpirun(2), train);
  EXPECT_TRUE(has(processes.err, "2 workers on 1 host, started by mpirun (Open MPI)\n"))
      << processes.err;
  const Answer launched = call_with("", "launch -n 2 " + train);
  EXPECT_TRUE(has(launched.err, "2 workers on 1 host, started by pipedream launch (Open MPI)\n"))
      << launched.err;
  EXPECT_FALSE(has(call(train + " --workers 2").err, "started by"));
}

// What mpirun takes to start the second process as another program, or with other flags.
std::string second(const std::string& program, const std::string& arguments) {
  return " : -n 1 " + program + " " + arguments;
}

TEST(TrainCommand, AFlagThatDiffersIsNamed) {
  PD_NEEDS_MPIRUN;
  const auto with = [&](const std::string& first, const std::string& other) {
    return call_with(mpirun(1), kMlp + "--minibatches 4 " + first +
                                    second(PD_PROGRAM, kMlp + "--minibatches 4 " + other));
  };
  expect_refusal(with("--seed 1", "--seed 2"), 2, " was started with --seed 2, and worker 0 on ");
  expect_refusal(with("--no-evaluation", ""), 2, " was started without --no-evaluation, and ");
  expect_refusal(with("", "--no-such-flag"), 2, " was started with --no-such-flag, and worker 0");
  expect_refusal(with("--seed 1", "--seed x"), 2, "other workers have another command line");
  expect_refusal(with("--seed x", "--seed x"), 2, "pipedream: --seed: ");
  // Only the first process reads profiles and prints.
  const Answer answer = with("--json --system mp --profile " + mlp_profile(), "--system mp");
  EXPECT_EQ(answer.code, 0) << answer.err;
}

TEST(TrainCommand, AScheduleThatDiffersIsNamed) {
  PD_NEEDS_MPIRUN;
  const std::string train = kMlp + "--system gpipe --stages 2 --no-recompute --schedule ";
  const std::string one = write("one.txt", "worker 0: F0 B0\nworker 1: F0 B0\n");
  const std::string other = write("other.txt", "worker 0: F0 B0 F1 B1\nworker 1: F0 B0 F1 B1\n");
  expect_refusal(call_with(mpirun(1), train + one + second(PD_PROGRAM, train + other)), 78,
                 "--schedule: worker 1 on ");
}

// A copy of the program that has another build id.
std::string another_build() {
  std::string bytes = read_file(PD_PROGRAM);
  const std::string note("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
  const std::size_t at = bytes.find(note);
  if (at == bytes.npos) return "";
  bytes[at + note.size()] = static_cast<char>(bytes[at + note.size()] ^ 1);
  const std::string file = write("another_build", bytes);
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

TEST(TrainCommand, AnotherBuildOfTheProgramIsNamed) {
  PD_NEEDS_MPIRUN;
  const std::string other = another_build();
  if (other.empty()) GTEST_SKIP() << "the linker gives no build ids";
  const Answer answer = call_with(mpirun(1), kMlp + second(other, kMlp));
  expect_refusal(answer, 78, ": install the same on all hosts");
  EXPECT_TRUE(has(answer.err, "worker 1 on ")) << answer.err;
  // That it is another program says more than the flags that differ.
  expect_refusal(call_with(mpirun(1), kMlp + second(other, kMlp + "--no-such-flag")), 78,
                 ": install the same on all hosts");
}

TEST(TrainCommand, UnderTorchrunItselfIsAnsweredOnce) {
  const std::string torchrun = "OMP_NUM_THREADS=1 " PD_PYTHON " -m torch.distributed.run ";
  if (std::system((torchrun + "--help >/dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "there is no torchrun";
  const Answer answer = call_with(torchrun + "--nproc-per-node 2 --no-python ", kMlp);
  EXPECT_NE(answer.code, 0);
  EXPECT_EQ(messages(answer.err), 1) << answer.err;
  EXPECT_TRUE(has(answer.err, "pipedream launch -n 2 train --model mlp")) << answer.err;
}

}  // namespace
}  // namespace pipedream
