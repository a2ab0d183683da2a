// Goes on from a checkpoint: finds it, compares what it was trained with, and says where the new
// run begins (docs/checkpoints.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "model/weights_file.h"
#include "runtime/state.h"
#include "train/course.h"

namespace pipedream::train {

// The folder of checkpoints in a run folder.
inline constexpr const char* kCheckpoints = "checkpoints";

// A checkpoint whose files were found to be as they were written.
struct SoundCheckpoint {
  std::filesystem::path path;  // its own folder
  checkpoint::Manifest manifest;
  std::vector<checkpoint::Skipped> skipped;  // newer ones that are damaged
};

// Finds the checkpoint that a user means by the path `named`. A run folder means its newest sound
// checkpoint. The folder of a checkpoint means this checkpoint. Returns nullopt if `named` is a run
// folder without checkpoints. Throws BadFile, with the reasons, if there are checkpoints and none
// is sound.
[[nodiscard]] std::optional<SoundCheckpoint> find_checkpoint(const std::filesystem::path& named);
// The same for a folder of checkpoints instead of a run folder.
[[nodiscard]] std::optional<SoundCheckpoint> newest_checkpoint(
    const std::filesystem::path& checkpoints);
// One checkpoint. Throws CannotMeet if there is none, and BadFile if it is damaged.
[[nodiscard]] SoundCheckpoint one_checkpoint(const std::filesystem::path& path);

// A checkpoint as text, which other processes turn back, without what was skipped.
[[nodiscard]] std::string to_text(const SoundCheckpoint& checkpoint);
[[nodiscard]] SoundCheckpoint checkpoint_in(const std::string& text);

// What `resume` names: a run folder, directly or by one of its checkpoints. Goes by the names
// alone.
struct ResumeName {
  std::filesystem::path run;
  std::optional<std::filesystem::path> checkpoint{};  // the folder of one checkpoint
};
[[nodiscard]] ResumeName parse_resume_name(const std::filesystem::path& named);

// The settings that change the samples or the arithmetic of a training, and that differ between two
// manifests: the network and its options, data, seed, batch, precision, kind of optimiser. Each as
// a line such as "`batch` is 32 now and was 64".
[[nodiscard]] std::vector<std::string> changed_settings(const checkpoint::Manifest& before,
                                                        const checkpoint::Manifest& now);

// Whether a training with the settings `now` counts its steps or orders its samples differently
// from the one that wrote `before`. Its checkpoints must not be put into the same folder.
[[nodiscard]] bool counts_steps_differently(const checkpoint::Manifest& before,
                                            const checkpoint::Manifest& now);

// The step and the samples from which a training with the settings `now` counts on.
[[nodiscard]] checkpoint::Position resumed_position(const checkpoint::Manifest& before,
                                                    const checkpoint::Manifest& now);

// Where a training with the settings `now` goes on. If it has other samples, or another order of
// them, the epoch of the checkpoint begins anew.
[[nodiscard]] Beginning beginning_of(const checkpoint::Manifest& before,
                                     const checkpoint::Manifest& now);

// 128 random bits as 32 hexadecimal digits, for CheckpointRequest::run.
[[nodiscard]] std::string new_run_id();

// Throws CannotMeet, with a list of the settings that changed, if a training with the settings
// `now` cannot go on from `before`: because it would be another training (unless `force`), or
// because it would put its checkpoints among those of a training that counts otherwise
// (`in_place`).
void want_same_settings(const checkpoint::Manifest& before, const checkpoint::Manifest& now,
                        bool force, bool in_place);

// The parameters and buffers of a checkpoint, without the state of the training, and the metadata
// that a file of weights has. If the checkpoint has averages of parameters, these are taken.
struct PlainWeights {
  model::NamedTensors tensors;
  model::WeightsMetadata metadata;
};
[[nodiscard]] PlainWeights weights_of(const SoundCheckpoint& checkpoint);

// Whether this machine sees the checkpoint: the same manifest under the same path.
[[nodiscard]] bool is_seen(const SoundCheckpoint& checkpoint);

// Whether a training that keeps averages of the weights (runtime::kAverage) can go on from the
// checkpoint: it has averages, or no optimiser state at all.
[[nodiscard]] bool takes_averages(const SoundCheckpoint& checkpoint);

// The metadata of a checkpoint's files, which are those of files of weights.
[[nodiscard]] model::WeightsMetadata metadata_of(const SoundCheckpoint& checkpoint);

// Finds the weights to use outside of the training: the averages of parameters, if the checkpoint
// has them (runtime::kAverage). Opens the files at once; throws IoError or BadFile.
[[nodiscard]] runtime::FindTensor weights_to_use(const SoundCheckpoint& checkpoint);

// Finds the tensors in the checkpoint's files. Opens the files at once; throws IoError or BadFile.
[[nodiscard]] runtime::FindTensor tensors_of(const SoundCheckpoint& checkpoint);

}  // namespace pipedream::train
