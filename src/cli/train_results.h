// What `train` leaves behind: files, and what it says about them.
#pragma once

#include <optional>

#include "cli/train_flags.h"
#include "model/weights_file.h"
#include "report/training_table.h"
#include "train/run_folder.h"

namespace pipedream::cli {

// Writes what a training ended with, the weights first: they cannot be made again. What cannot be
// written does not keep the rest from being written. `folder` may be null. Says on stderr where
// everything is. Throws IoError at the end if something could not be written.
void write_results(const TrainFlags& flags, const train::RunFolder* folder,
                   const report::TrainingRun& run, const train::TrainingOutcome& outcome,
                   const model::WeightsMetadata& metadata);

}  // namespace pipedream::cli
