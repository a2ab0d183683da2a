#include "transport/launcher.h"

#include <charconv>
#include <cstdlib>

namespace pipedream::transport {
namespace {

// Reads variables of one environment.
class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  [[nodiscard]] bool has(const char* name) const { return environment_(name).has_value(); }
  [[nodiscard]] std::string text(const char* name) const { return environment_(name).value_or(""); }
  // Nothing if the variable is not set or is no number.
  [[nodiscard]] std::optional<int> number(const char* name) const {
    const std::string found = text(name);
    int value = 0;
    const auto [stop, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error != std::errc{} || stop != found.data() + found.size()) return std::nullopt;
    return value;
  }

 private:
  const Environment& environment_;
};

// A step of srun with several tasks. A batch script and a shell of salloc have SLURM_NTASKS too,
// but only srun sets the number of a step's tasks.
bool is_srun_step(const Variables& variables) {
  return variables.number("SLURM_STEP_NUM_TASKS").value_or(1) > 1;
}

// One task of srun is a plain start, whatever Slurm's plugin has set: it is how shells and
// programs with threads are started.
bool is_single_task(const Variables& variables) {
  return variables.number("SLURM_STEP_NUM_TASKS") == 1 && !variables.has("MPI_LOCALNRANKS");
}

// Open MPI's mpirun comes first: inside an allocation it starts its daemons with srun, and passes
// on whatever else is set.
std::optional<Launcher> of_open_mpi(const Variables& variables) {
  const auto size = variables.number("OMPI_COMM_WORLD_SIZE");
  if (!size) return std::nullopt;
  const bool launched = variables.has(kLaunchVariable);
  return Launcher{.start = Start::kMpi,
                  .name = launched ? "pipedream launch (Open MPI)" : "mpirun (Open MPI)",
                  .rank = variables.number("OMPI_COMM_WORLD_RANK").value_or(0),
                  .size = size,
                  .here = variables.number("OMPI_COMM_WORLD_LOCAL_SIZE")};
}

std::optional<Launcher> of_pmix(const Variables& variables) {
  const auto rank = variables.number("PMIX_RANK");
  if (!rank || is_single_task(variables)) return std::nullopt;
  if (is_srun_step(variables))
    return Launcher{.start = Start::kMpi,
                    .name = "srun (PMIx)",
                    .rank = *rank,
                    .size = variables.number("SLURM_STEP_NUM_TASKS"),
                    .here = {}};
  return Launcher{.start = Start::kMpi, .name = "a launcher with PMIx", .rank = *rank};
}

std::optional<Launcher> of_pmi(const Variables& variables) {
  const auto rank = variables.number("PMI_RANK");
  if (!rank || is_single_task(variables)) return std::nullopt;
  const auto here = variables.number("MPI_LOCALNRANKS");  // set by Hydra, the mpirun of MPICH
  const bool launched = variables.has(kLaunchVariable);
  return Launcher{.start = Start::kMpi,
                  .name = here && launched          ? "pipedream launch (MPICH or Intel MPI)"
                          : here                    ? "mpirun (MPICH or Intel MPI)"
                          : is_srun_step(variables) ? "srun (PMI2)"
                                                    : "a launcher with PMI",
                  .rank = *rank,
                  .size = variables.number("PMI_SIZE"),
                  .here = here};
}

std::optional<Launcher> of_torchrun(const Variables& variables) {
  const bool elastic = variables.has("TORCHELASTIC_RUN_ID");
  const auto rank = variables.number("RANK");
  const auto size = variables.number("WORLD_SIZE");
  if (!elastic && !(rank && size && variables.has("MASTER_ADDR"))) return std::nullopt;
  return Launcher{.start = Start::kTorchrun,
                  .name = elastic ? "torchrun" : "a launcher of PyTorch's (RANK, WORLD_SIZE)",
                  .rank = rank.value_or(0),
                  .size = size,
                  .here = variables.number("LOCAL_WORLD_SIZE"),
                  .first_host = variables.text("MASTER_ADDR")};
}

std::optional<Launcher> of_srun(const Variables& variables) {
  if (!is_srun_step(variables)) return std::nullopt;
  return Launcher{.start = Start::kSrun,
                  .name = "srun",
                  .rank = variables.number("SLURM_PROCID").value_or(0),
                  .size = variables.number("SLURM_STEP_NUM_TASKS"),
                  .here = {}};
}

}  // namespace

Launcher launcher_in(const Environment& environment) {
  const Variables variables(environment);
  for (const auto& look : {of_open_mpi, of_pmix, of_pmi, of_torchrun, of_srun})
    if (const auto found = look(variables)) return *found;
  return {};
}

const Launcher& this_launcher() {
  static const Launcher launcher = launcher_in([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  });
  return launcher;
}

}  // namespace pipedream::transport
