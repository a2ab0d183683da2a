// Writes the result files of `train` and reports them on stderr.
#pragma once

#include <optional>

#include "cli/train_flags.h"
#include "model/weights_file.h"
#include "report/training_table.h"
#include "train/run_folder.h"

namespace pipedream::cli {

// Writes the results of a training. The weights come first, because they cannot be made again. If
// one file cannot be written, the others still are. `folder` is null without --out. Names all files
// on stderr. Returns why files could not be written; empty if all were.
[[nodiscard]] std::string write_results(const TrainFlags& flags, const train::RunFolder* folder,
                                        const report::TrainingRun& run,
                                        const train::TrainingOutcome& outcome,
                                        const model::WeightsMetadata& metadata);

}  // namespace pipedream::cli
