#include "transport/launcher.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace pipedream::transport {
namespace {

using Variables = std::map<std::string, std::string>;

Launcher launcher_of(const Variables& variables) {
  return launcher_in([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  });
}

struct Case {
  Variables variables;
  Start start;
  std::string name;
  int rank = 0;
  std::optional<int> size{};
  std::optional<int> here{};
};

void expect_all(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    std::string shown;
    for (const auto& [name, value] : each.variables) shown += name + "=" + value + " ";
    SCOPED_TRACE(shown);
    const Launcher found = launcher_of(each.variables);
    EXPECT_EQ(found.start, each.start);
    EXPECT_EQ(found.name, each.name);
    EXPECT_EQ(found.rank, each.rank);
    EXPECT_EQ(found.size, each.size);
    EXPECT_EQ(found.here, each.here);
  }
}

const Variables kOpenMpi{{"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_RANK", "3"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                         {"PMIX_RANK", "3"}};
// What srun sets for each task of a step, whatever its plugin for MPI.
const Variables kStep{{"SLURM_JOB_ID", "7"},          {"SLURM_NTASKS", "4"},
                      {"SLURM_STEP_ID", "0"},         {"SLURM_PROCID", "2"},
                      {"SLURM_STEP_NUM_TASKS", "4"},  {"SLURM_LOCALID", "0"},
                      {"SLURM_STEP_NODELIST", "a,b"}, {"SLURM_NODEID", "1"}};
const Variables kTorchrun{{"RANK", "1"},
                          {"WORLD_SIZE", "2"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "2"},
                          {"MASTER_ADDR", "127.0.0.1"},
                          {"MASTER_PORT", "29500"},
                          {"TORCHELASTIC_RUN_ID", "none"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

TEST(Launcher, OfMpiIsNamedWithItsNumbers) {
  expect_all({
      {kOpenMpi, Start::kMpi, "mpirun (Open MPI)", 3, 4, 2},
      {with(kOpenMpi, {{kLaunchVariable, "1"}}), Start::kMpi, "pipedream launch (Open MPI)", 3, 4,
       2},
      {{{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}},
       Start::kMpi,
       "mpirun (MPICH or Intel MPI)",
       1,
       4,
       2},
      {with(kStep, {{"PMIX_RANK", "2"}}), Start::kMpi, "srun (PMIx)", 2, 4},
      {with(kStep, {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}), Start::kMpi, "srun (PMI2)", 2, 4},
      {{{"PMIX_RANK", "2"}}, Start::kMpi, "a launcher with PMIx", 2},
      {{{"PMI_RANK", "2"}}, Start::kMpi, "a launcher with PMI", 2},
  });
}

// Inside an allocation, mpirun starts its daemons with srun. A batch script may have variables of
// PyTorch's for another program.
TEST(Launcher, OfOpenMpiWinsOverWhatElseIsSet) {
  expect_all({
      {with(kStep, kOpenMpi), Start::kMpi, "mpirun (Open MPI)", 3, 4, 2},
      {with(kTorchrun, kOpenMpi), Start::kMpi, "mpirun (Open MPI)", 3, 4, 2},
      {with(kStep, {{"PMI_RANK", "1"}, {"PMI_SIZE", "8"}, {"MPI_LOCALNRANKS", "4"}}), Start::kMpi,
       "mpirun (MPICH or Intel MPI)", 1, 8, 4},
  });
}

TEST(Launcher, ThatStartsNoMpiIsKnown) {
  Variables by_hand = kTorchrun;
  by_hand.erase("TORCHELASTIC_RUN_ID");
  by_hand.erase("LOCAL_WORLD_SIZE");
  expect_all({
      {kTorchrun, Start::kTorchrun, "torchrun", 1, 2, 2},
      {with(kTorchrun, {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_WORLD_SIZE", "1"}}),
       Start::kTorchrun, "torchrun", 0, 1, 1},
      {by_hand, Start::kTorchrun, "a launcher of PyTorch's (RANK, WORLD_SIZE)", 1, 2},
      {with(kStep, kTorchrun), Start::kTorchrun, "torchrun", 1, 2, 2},
      {kStep, Start::kSrun, "srun", 2, 4},
  });
  EXPECT_EQ(launcher_of(kTorchrun).first_host, "127.0.0.1");
}

TEST(Launcher, OfOneProcessIsNone) {
  expect_all({
      {{}, Start::kPlain, ""},
      // A shell of salloc, and a script of sbatch.
      {{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}}, Start::kPlain, ""},
      {{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}, Start::kPlain, ""},
      // A shell of srun --pty, also where Slurm's default plugin is PMIx or PMI2.
      {with(kStep, {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}), Start::kPlain, ""},
      {with(kStep, {{"SLURM_STEP_NUM_TASKS", "1"}, {"PMIX_RANK", "0"}}), Start::kPlain, ""},
      {with(kStep, {{"SLURM_STEP_NUM_TASKS", "1"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}),
       Start::kPlain, ""},
      // A variable that another program may use, and one that is no number.
      {{{"MASTER_ADDR", "a"}}, Start::kPlain, ""},
      {{{"WORLD_SIZE", "2"}}, Start::kPlain, ""},
      {{{"OMPI_COMM_WORLD_SIZE", "many"}}, Start::kPlain, ""},
  });
}

}  // namespace
}  // namespace pipedream::transport
