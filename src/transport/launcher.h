// What started this process: mpirun, srun, torchrun or nothing of the kind
// (docs/runtime.md#what-starts-the-processes). Reads environment variables only, so that a program
// that was started plainly never starts MPI.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace pipedream::transport {

enum class Start {
  kPlain,     // one process by itself: a shell, a batch script, one task of srun
  kMpi,       // by a launcher whose processes MPI joins
  kTorchrun,  // by torchrun or another launcher of PyTorch's, which start no MPI
  kSrun,      // several processes by srun without PMIx or PMI, so that MPI cannot join them
};

// `pipedream launch` sets this variable for the processes that it starts.
inline constexpr const char* kLaunchVariable = "PIPEDREAM_LAUNCH";

struct Launcher {
  Start start = Start::kPlain;
  std::string name;          // such as "mpirun (Open MPI)"; empty for kPlain
  int rank = 0;              // of this process, from 0
  std::optional<int> size;   // processes in all; nullopt if the variables do not say
  std::optional<int> here;   // processes on this machine; nullopt if the variables do not say
  std::string first_host{};  // of the first process, if kTorchrun says it
};

// Returns the value of an environment variable, or nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

// Returns what the variables of `environment` say.
[[nodiscard]] Launcher launcher_in(const Environment& environment);

// What started this process. The variables are read at the first call: MPI may change them when it
// starts. May be called from any thread.
[[nodiscard]] const Launcher& this_launcher();

}  // namespace pipedream::transport
