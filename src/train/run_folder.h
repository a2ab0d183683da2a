// The folder of a run (docs/formats.md#run-folder): what a training was made of, how it went, and
// what came of it.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "core/file_lock.h"
#include "train/trainer.h"

namespace pipedream::train {

// One training's claim to a folder. While it lives, no other training can claim the folder.
class RunFolder {
 public:
  // Makes the folder and locks it. A folder that holds anything is refused (CannotMeet), unless
  // `overwrite` is set and it holds a run of ours; another training that is using it is named.
  // Nothing is deleted yet. Throws IoError if the folder cannot be made or written.
  RunFolder(std::filesystem::path folder, bool overwrite);

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_ / name; }

  // A training begins. Deletes the files of an earlier run of ours, and no others, and writes
  // `files`, content by name. All that is read from the folder must have been read before: the
  // configuration in use may be the one that is deleted.
  void begin(const std::map<std::string, std::string>& files) const;

 private:
  std::filesystem::path folder_;
  std::optional<FileLock> lock_;
};

// Names in a run folder.
inline constexpr const char* kConfigurationFile = "config.json";
inline constexpr const char* kPlanFile = "plan.json";
inline constexpr const char* kProfileFile = "profile.json";
inline constexpr const char* kClusterFile = "cluster.toml";
inline constexpr const char* kMetricsFile = "metrics.jsonl";
inline constexpr const char* kWeightsFile = "weights.safetensors";
inline constexpr const char* kSummaryFile = "summary.json";
inline constexpr const char* kPictureFile = "timeline.svg";
inline constexpr const char* kTraceFile = "timeline.json";

// Throws IoError if the disk of `folder` has less than `needed` bytes free. `what` needs them.
void want_space(const std::filesystem::path& folder, Bytes needed, const std::string& what);

// metrics.jsonl: one JSON object per line, on disk as soon as it is written. A line that cannot be
// written is reported once and ends nothing: a training is worth more than its metrics.
class Metrics {
 public:
  explicit Metrics(const std::filesystem::path& file);
  void add(const Step& step);
  void add(const Evaluation& evaluation);

  // Why lines are missing; nothing if all were written.
  [[nodiscard]] const std::optional<std::string>& failure() const { return failure_; }

 private:
  void write(const std::string& line);

  std::string name_;
  std::ofstream file_;
  std::optional<std::string> failure_;
};

}  // namespace pipedream::train
