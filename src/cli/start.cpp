#include "cli/start.h"

#include <algorithm>

#include "core/text.h"

namespace pipedream::cli {
namespace {

using transport::Launcher;
using transport::Start;

bool has(const Words& command, const std::string& word) {
  return std::find(command.begin(), command.end(), word) != command.end();
}

// A word as a shell reads it.
std::string quoted(const std::string& word) {
  const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_=+./,:@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string line_of(const Words& command) { return "pipedream " + joined(command, quoted, " "); }

// The hosts for `launch`: "a:2,HOST-2:2", of which only the first one's name is known. Empty if all
// processes are on one host.
std::string hosts_of(const Launcher& launcher) {
  if (!launcher.size || !launcher.here || *launcher.here < 1) return "";
  const int hosts = *launcher.size / *launcher.here;
  if (hosts < 2) return "";
  const std::string slots = ":" + std::to_string(*launcher.here);
  std::string list = (launcher.first_host.empty() ? "HOST-1" : launcher.first_host) + slots;
  for (int host = 2; host <= hosts; ++host) list += ",HOST-" + std::to_string(host) + slots;
  return list;
}

std::string size_text(const Launcher& launcher) {
  return launcher.size ? std::to_string(*launcher.size) : "PROCESSES";
}

std::string launch_line(const Launcher& launcher, const Words& command) {
  if (command.front() != "train")  // `launch` starts trainings only
    return "mpirun -n " + size_text(launcher) + " " + line_of(command);
  const std::string hosts = hosts_of(launcher);
  return "pipedream launch " + (hosts.empty() ? "-n " + size_text(launcher) : "--hosts " + hosts) +
         " " + joined(command, quoted, " ");
}

std::string of_pytorch(const Launcher& launcher, const Words& command) {
  return launcher.name +
         " started this process, and starts no MPI, so each process would train alone; start "
         "instead, once and on one host:\n  " +
         launch_line(launcher, command);
}

std::string of_srun(const Launcher& launcher, const Words& command) {
  return "srun started " + size_text(launcher) +
         " processes without PMIx or PMI2, so MPI cannot join them, and each would train alone: "
         "take srun --mpi=pmix ('srun --mpi=list' says what there is), or start inside the "
         "allocation, once:\n  " +
         launch_line(launcher, command);
}

// What one process does by itself, and several at once would do in each other's way; nullopt if the
// command is for any number of processes.
std::optional<std::string> work_of_one(const Words& command) {
  const std::string& name = command.front();
  if (name == "launch") return "launch starts the processes of a training itself";
  if (name == "profile" && value_of(command, "--model"))
    return "profile measures with threads of one process (--workers)";
  if (name == "evaluate") return "evaluate uses threads of one process";
  if (name == "generate") return "generate uses one process";
  return std::nullopt;
}

std::string of_single(const std::string& work, const Launcher& launcher, const Words& command) {
  return work + ", and " + launcher.name + " started it " +
         (launcher.size ? counted(*launcher.size, "time", "times") : std::string("several times")) +
         "; start it once, without " + launcher.name + ":\n  " + line_of(command);
}

bool starts_several(const Launcher& launcher) {
  return launcher.start != Start::kPlain && launcher.size.value_or(2) > 1;
}

}  // namespace

std::optional<std::string> wrong_start(const Launcher& launcher, const Words& command) {
  if (command.empty() || has(command, "--help") || has(command, "-h")) return std::nullopt;
  const std::string& name = command.front();
  if (const auto work = work_of_one(command))
    return starts_several(launcher) ? std::optional(of_single(*work, launcher, command))
                                    : std::nullopt;
  if (name != "train" && !(name == "compare" && has(command, "--run"))) return std::nullopt;
  if (launcher.start == Start::kTorchrun) return of_pytorch(launcher, command);
  if (launcher.start == Start::kSrun) return of_srun(launcher, command);
  return std::nullopt;
}

}  // namespace pipedream::cli
