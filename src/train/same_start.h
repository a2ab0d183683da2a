// The processes of a training compare how they were started before they do anything together: the
// same program and libtorch on all hosts, the same flags, the same data
// (docs/runtime.md#what-starts-the-processes).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/launcher.h"
#include "transport/mpi.h"

namespace pipedream::train {

// What must be equal in all processes, each with its name: ("--batch", "16"). In any order.
using Settings = std::vector<std::pair<std::string, std::string>>;

// What one process says of itself when it starts.
struct Identity {
  std::string version;         // of pipedream
  std::string build;           // core/build_id.h
  std::string libtorch;        // its version
  std::string libtorch_build;  // core/build_id.h
  std::string processor;       // "x86_64": builds for different kinds of processor always differ
  Settings flags{};            // as the command line gives them
  std::string refusal{};       // why this process refused its command line; empty if it did not
  friend bool operator==(const Identity&, const Identity&) = default;
};

// The program that this process runs, without flags.
[[nodiscard]] Identity this_program();

// Identities travel as text. identity_in() throws BadFile for a text that is none.
[[nodiscard]] std::string to_text(const Identity& identity);
[[nodiscard]] Identity identity_in(const std::string& text);

// Why processes cannot train together.
struct Disagreement {
  bool of_programs = false;  // what is installed differs; else the command lines differ
  std::string text;          // for the user
};
// Compares what the processes say of themselves with what the first one says. `names` are those of
// the processes ("worker 3 on host-b"). Returns nullopt if they can train together.
[[nodiscard]] std::optional<Disagreement> disagreement(std::span<const Identity> processes,
                                                       std::span<const std::string> names);

// Why MPI has not joined the processes that `launcher` started, or nullopt if it has. `size`: how
// many processes MPI has joined; `mpi`: its name.
[[nodiscard]] std::optional<std::string> why_not_joined(const transport::Launcher& launcher,
                                                        int size, const std::string& mpi);

// To be called by all processes before anything else that they do together. Throws the same in all
// of them: BadUsage if MPI has not joined all that the launcher started, if a process has refused
// its command line, or if the flags differ; CannotMeet if the programs differ. The world can still
// be used then.
void want_same_start(transport::MpiWorld& world, const transport::Launcher& launcher,
                     const Identity& own);

// Compares what processes have read: data, model, schedule. To be called by all. Throws CannotMeet
// in all processes if the value of a name differs.
void want_same_inputs(transport::MpiWorld& world, const Settings& own);

// "4 workers on 2 hosts, started by mpirun (Open MPI)".
[[nodiscard]] std::string start_text(const transport::MpiWorld& world,
                                     const transport::Launcher& launcher);

}  // namespace pipedream::train
