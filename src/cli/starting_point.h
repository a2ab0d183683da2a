// Where a training command begins: with nothing, with the configuration of --config, or with the
// run that --resume names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/train_flags.h"
#include "systems/measured.h"
#include "train/goal.h"
#include "train/resume.h"
#include "train/run_folder.h"
#include "transport/mpi.h"

namespace pipedream::cli {

// The word that --resume takes instead of a folder: go on where there is something to go on from.
inline constexpr const char* kResumeIfThere = "auto";

struct StartingPoint {
  std::string configuration;  // the content of a configuration file; empty if there is none
  std::string file;           // the name of that file
  std::optional<train::SoundCheckpoint> resumed;
  std::filesystem::path run;  // the run folder that the checkpoint is of
  bool in_place = false;      // whether the training goes on in that folder
  bool has_ended = false;     // whether that run has the results of a training that came to its end
  // How that training did, if it ended at a target, or because it learned no more.
  std::optional<systems::GoalResult> ended_at;
  // The folder of --out. Only in the first process, and only if --resume made it necessary to lock
  // the folder this early.
  std::optional<train::RunFolder> folder;
};

// Whether a training that ended so has done what `goal` asks for.
[[nodiscard]] bool is_enough(const systems::GoalResult& result, const train::Goal& goal);

// Reads the configuration and finds the checkpoint, in the first process; the others get what it
// found. If the training goes on in the folder of --resume, sets `flags.out` to it. Throws BadUsage
// for flags that contradict each other, and CannotMeet if there is nothing to go on from.
[[nodiscard]] StartingPoint starting_point(TrainFlags& flags, transport::MpiWorld* world);

}  // namespace pipedream::cli
