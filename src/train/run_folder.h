// The folder of a run (docs/formats.md#run-folder), with the files of one training: its
// configuration, its plan, its metrics and its results.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "checkpoint/manifest.h"
#include "core/file_lock.h"
#include "train/trainer.h"

namespace pipedream::train {

// What a training does with the run that a folder holds already.
enum class EarlierRun { kRefuse, kReplace, kContinue };

// Makes a folder, and the folders that it is to be in, so that they survive a crash of the machine.
// Throws IoError.
void make_folders(const std::filesystem::path& folder);

// Locks a folder, so that no other training can use it. If another training has locked it, throws
// CannotMeet: the message names `option`, with which the user chose the folder, and the process of
// the other training.
[[nodiscard]] FileLock lock_folder(const std::filesystem::path& folder, const std::string& option);

// One training's claim to a folder. While it lives, no other training can claim the folder.
class RunFolder {
 public:
  // Makes the folder, if there is none, and locks it. Deletes nothing. Throws CannotMeet if another
  // training is using the folder, with its process in the message, if the folder holds anything but
  // a run of pipedream's, and if it holds a run and `earlier` is kRefuse. With kContinue the folder
  // must hold a run. Throws IoError if the folder cannot be made or written.
  RunFolder(std::filesystem::path folder, EarlierRun earlier);

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_ / name; }

  // Must be called when the training begins. Deletes the files of an earlier run, and no others.
  // With kContinue, its metrics, its checkpoints and its weights stay. Then writes `files`, content
  // by name. Callers must have read all they need from the folder: the configuration in use may be
  // deleted here.
  void begin(const std::map<std::string, std::string>& files) const;
  // Replaces some of the files that begin() has written, while the training goes on.
  void replace(const std::map<std::string, std::string>& files) const;
  // Makes the folder for checkpoints, and removes what writers that did not finish have left in it.
  // To be called after begin().
  void prepare_checkpoints() const;
  // Whether the folder has the results of a training that came to its end.
  [[nodiscard]] bool has_results() const;

 private:
  EarlierRun earlier_;
  std::filesystem::path folder_;
  std::optional<FileLock> lock_;
};

// Names in a run folder.
inline constexpr const char* kConfigurationFile = "config.json";
inline constexpr const char* kPlanFile = "plan.json";
inline constexpr const char* kProfileFile = "profile.json";
inline constexpr const char* kClusterFile = "cluster.toml";
inline constexpr const char* kVocabularyFile = "vocabulary.json";
inline constexpr const char* kMetricsFile = "metrics.jsonl";
inline constexpr const char* kWeightsFile = "weights.safetensors";
inline constexpr const char* kSkippedFile = "skipped.txt";
inline constexpr const char* kSummaryFile = "summary.json";
inline constexpr const char* kPictureFile = "timeline.svg";
inline constexpr const char* kTraceFile = "timeline.json";

// Throws IoError if the disk of `folder` has less than `needed` bytes free. `what` says in the
// message what the space is for.
void want_space(const std::filesystem::path& folder, Bytes needed, const std::string& what);

// Return the line of metrics.jsonl about a step, an evaluation or a worker, without a line end.
[[nodiscard]] std::string metrics_line(const Step& step);
[[nodiscard]] std::string metrics_line(const Evaluation& evaluation);

// A worker that is slower or faster than the others, and the step after which that was noticed.
struct OddWorkerSeen {
  OddWorker worker;
  Seconds lasted{0};  // the time of training that the worker's figures are of
  std::int64_t samples = 0;
  Seconds seconds{0};
};
[[nodiscard]] std::string metrics_line(const OddWorkerSeen& odd);

// Writes metrics.jsonl: one JSON object per line, flushed after each line. If lines cannot be
// written, because the disk is full, logs a warning, keeps them in memory and tries again every
// second. It does not throw, so training goes on.
class Metrics {
 public:
  // Begins a new file.
  explicit Metrics(const std::filesystem::path& file);
  // Goes on with the file of an earlier run, or with a copy of it, after the checkpoint at
  // `position`: lines about later minibatches are dropped, and a line that says `resumed` is added.
  // `earlier` may be `file`, and need not exist.
  Metrics(const std::filesystem::path& file, const std::filesystem::path& earlier,
          const checkpoint::Position& position);
  void add(const Step& step) { write(metrics_line(step)); }
  void add(const Evaluation& evaluation) { write(metrics_line(evaluation)); }
  void add(const OddWorkerSeen& odd) { write(metrics_line(odd)); }

  // Tries a last time to write the lines that could not be written, and returns why some are
  // missing. Returns nullopt if none is.
  [[nodiscard]] std::optional<std::string> finish();

 private:
  void write(const std::string& line);
  void write_pending();

  std::string name_;
  std::ofstream file_;
  std::streamoff written_ = 0;  // the bytes of the file that are whole lines
  std::string pending_;         // lines that are not written
  bool lost_ = false;           // there were too many pending lines to keep
  std::optional<std::string> failure_;
  std::chrono::steady_clock::time_point tried_;  // when writing failed last
};

}  // namespace pipedream::train
