#include "train/run_folder.h"

#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "checkpoint/disk.h"
#include "checkpoint/folder.h"
#include "core/error.h"
#include "core/file.h"
#include "core/log.h"
#include "train/resume.h"

namespace pipedream::train {

using nlohmann::ordered_json;

namespace {

constexpr const char* kLockFile = ".lock";

// Whether a training writes files of that name.
bool is_of_a_run(const std::string& name) {
  static const std::set<std::string> names{
      kConfigurationFile, kPlanFile,    kProfileFile, kClusterFile, kMetricsFile,   kPictureFile,
      kTraceFile,         kWeightsFile, kSummaryFile, kSkippedFile, kVocabularyFile};
  return names.contains(name) || (name.starts_with("worker") && name.ends_with("-last-ops.txt"));
}

// Whether the file is one that a training had not finished when it was killed.
bool is_left_over(const std::string& name) {
  const auto finished = name_when_finished(name);
  return finished && is_of_a_run(*finished);
}

// Whether a training that goes on from a checkpoint needs this file of the run before.
bool stays(const std::string& name) { return name == kMetricsFile || name == kWeightsFile; }

// Removes all checkpoints of an earlier run. What else is in their folder stays.
void remove_checkpoints(const std::filesystem::path& folder) {
  checkpoint::Disk& disk = checkpoint::real_disk();
  for (const checkpoint::Found& found : checkpoint::find_checkpoints(folder))
    checkpoint::remove_checkpoint(disk, found.path);
  checkpoint::remove_unfinished(disk, folder);
  std::error_code ignored;  // a folder with other files stays
  std::filesystem::remove(folder, ignored);
}

// Whether the folder has the configuration of a training, which every training writes first. A
// folder with, say, somebody else's weights.safetensors has none.
bool holds_a_run(const std::filesystem::path& folder) {
  if (!is_there(folder / kConfigurationFile)) return false;
  const auto json = nlohmann::json::parse(read_file(folder / kConfigurationFile), nullptr,
                                          /*allow_exceptions=*/false);
  return json.is_object() && json.value("format", "") == "pipedream-training";
}

// What is in the folder, without the lock and without files that are left over.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const std::string name = entry.path().filename().string();
        name != kLockFile && !is_left_over(name))
      entries.push_back(entry.path());
  return entries;
}

void remove_left_overs(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (is_left_over(entry.path().filename().string())) found.push_back(entry.path());
  for (const std::filesystem::path& path : found) std::filesystem::remove(path);
}

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& why) {
  throw CannotMeet("`out` " + folder.string() + " " + why);
}

}  // namespace

void make_folders(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path full = std::filesystem::absolute(folder).lexically_normal();
  std::filesystem::path made;
  for (const std::filesystem::path& part : full) {
    const std::filesystem::path parent = made;
    made /= part;
    if (part.empty() || std::filesystem::is_directory(made, error)) continue;
    checkpoint::real_disk().make_folder(made);
    checkpoint::real_disk().sync_folder(parent);
  }
}

FileLock lock_folder(const std::filesystem::path& folder, const std::string& option) {
  auto locked = FileLock::try_lock(folder / kLockFile);
  if (const auto* holder = std::get_if<std::string>(&locked))
    throw CannotMeet("`" + option + "` " + folder.string() + " is in use by another training" +
                     (holder->empty() ? "" : " (process " + *holder + ")") +
                     ": name another folder");
  return std::get<FileLock>(std::move(locked));
}

RunFolder::RunFolder(std::filesystem::path folder, EarlierRun earlier)
    : earlier_(earlier), folder_(std::move(folder)) {
  try {
    if (earlier != EarlierRun::kContinue) make_folders(folder_);
    // Checked before the lock file is made, because nothing may be written to a folder that holds
    // something other than a run.
    const bool ours = holds_a_run(folder_);
    if (!ours && !checkpoint::find_checkpoints(folder_ / kCheckpoints).empty())
      throw CannotMeet(folder_.string() + " has checkpoints, but no sound " + kConfigurationFile +
                       " that says how they were trained: 'pipedream checkpoint " +
                       folder_.string() +
                       " --export FILE' writes their weights, and `weights` FILE begins a new "
                       "training with those");
    if (!ours && earlier == EarlierRun::kContinue)
      throw CannotMeet("`resume` " + folder_.string() +
                       " holds no run of pipedream's: name the folder of `out`");
    if (!ours && !entries_of(folder_).empty())
      refuse(folder_,
             "is not empty, and what it holds is no run of pipedream's: name another "
             "folder");
    lock_.emplace(lock_folder(folder_, earlier == EarlierRun::kContinue ? "resume" : "out"));
    if (ours && earlier == EarlierRun::kRefuse)
      refuse(folder_, has_results() ? "holds another training: name another folder, or `overwrite` "
                                      "it"
                                    : "holds another training, which did not end: go on with "
                                      "`resume`, name another folder, or `overwrite` it");
  } catch (const std::filesystem::filesystem_error& error) {
    throw IoError("cannot use the folder " + folder_.string() + ": " + error.code().message());
  }
}

void RunFolder::begin(const std::map<std::string, std::string>& files) const {
  try {
    remove_left_overs(folder_);
    if (holds_a_run(folder_)) {
      if (earlier_ == EarlierRun::kReplace) remove_checkpoints(folder_ / kCheckpoints);
      // Files that are about to be replaced stay until then. So whenever this is interrupted, the
      // folder has a configuration, and a run can go on in it.
      for (const std::filesystem::path& entry : entries_of(folder_))
        if (const std::string name = entry.filename().string();
            is_of_a_run(name) && !files.contains(name) &&
            !(earlier_ == EarlierRun::kContinue && stays(name)))
          std::filesystem::remove(entry);
    }
  } catch (const std::filesystem::filesystem_error& error) {
    throw IoError("cannot remove the files of an earlier run: " + std::string(error.what()));
  }
  replace(files);
}

void RunFolder::replace(const std::map<std::string, std::string>& files) const {
  const auto write = [&](const auto& file) {
    write_file_atomically(folder_ / file.first, file.second);
  };
  // The configuration makes the folder that of a run, so whenever this is interrupted, the folder
  // is either empty or a run's.
  const auto configuration = files.find(kConfigurationFile);
  if (configuration != files.end()) write(*configuration);
  for (const auto& file : files)
    if (file.first != kConfigurationFile) write(file);
}

void RunFolder::prepare_checkpoints() const {
  const std::filesystem::path folder = folder_ / kCheckpoints;
  checkpoint::real_disk().make_folder(folder);
  checkpoint::real_disk().sync_folder(folder_);
  checkpoint::remove_unfinished(checkpoint::real_disk(), folder);
}

bool RunFolder::has_results() const { return is_there(folder_ / kSummaryFile); }

void want_space(const std::filesystem::path& folder, Bytes needed, const std::string& what) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error || space.available >= static_cast<std::uintmax_t>(needed.count)) return;
  throw IoError("the disk of " + folder.string() + " has " +
                to_text(Bytes{static_cast<std::int64_t>(space.available)}) + " free, and " + what +
                " will need " + to_text(needed) + ": make room, or name another folder");
}

Metrics::Metrics(const std::filesystem::path& file) : name_(file.string()), file_(file) {
  if (!file_) throw IoError("cannot write " + name_ + ": " + std::strerror(errno));
}

namespace {

// Whether a line of metrics is about something that the checkpoint includes. A line that cannot be
// read is one that a crash has cut off.
bool is_included(const std::string& line, const checkpoint::Position& position) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return false;
  const auto is_at_most = [&](const char* key, std::int64_t most) {
    return !json.contains(key) || (json[key].is_number() && json[key] <= most);
  };
  return is_at_most("samples", position.samples) && is_at_most("minibatches", position.step) &&
         is_at_most("resumed", position.step);
}

// The lines of an earlier run's metrics that are before the checkpoint, and the line that says
// where the training goes on.
std::string resumed_metrics(const std::filesystem::path& earlier,
                            const checkpoint::Position& position) {
  std::string kept;
  if (is_there(earlier)) {
    std::istringstream lines(read_file(earlier));
    for (std::string line; std::getline(lines, line);)
      if (is_included(line, position)) kept += line + "\n";
  }
  return kept + ordered_json{{"resumed", position.step}, {"samples", position.samples}}.dump() +
         "\n";
}

}  // namespace

Metrics::Metrics(const std::filesystem::path& file, const std::filesystem::path& earlier,
                 const checkpoint::Position& position)
    : name_(file.string()) {
  const std::string kept = resumed_metrics(earlier, position);
  write_file_atomically(file, kept);
  written_ = static_cast<std::streamoff>(kept.size());
  file_.open(file, std::ios::in | std::ios::out);
  if (!file_) throw IoError("cannot write " + name_ + ": " + std::strerror(errno));
}

void Metrics::write(const std::string& line) {
  constexpr std::size_t kMostPending = 64 << 20;
  constexpr auto kBetweenTries = std::chrono::seconds(1);
  if (pending_.size() + line.size() < kMostPending)
    pending_ += line + "\n";
  else
    lost_ = true;
  if (failure_ && std::chrono::steady_clock::now() - tried_ < kBetweenTries) return;
  write_pending();
}

void Metrics::write_pending() {
  errno = 0;
  file_.clear();
  file_.seekp(written_);  // a failed try may have written a part
  file_ << pending_ << std::flush;
  if (file_) {
    if (failure_) log_info("metrics are written to " + name_ + " again");
    failure_.reset();
    written_ += static_cast<std::streamoff>(pending_.size());
    pending_.clear();
    return;
  }
  tried_ = std::chrono::steady_clock::now();
  const bool is_new = !failure_.has_value();
  failure_ = "cannot write " + name_ + (errno != 0 ? std::string(": ") + std::strerror(errno) : "");
  if (is_new) log_warning(*failure_ + "; training goes on, and tries again");
}

std::optional<std::string> Metrics::finish() {
  if (!pending_.empty()) write_pending();
  if (lost_ && !failure_) failure_ = "some lines of " + name_ + " could not be written";
  return failure_;
}

std::string metrics_line(const Step& step) {
  return ordered_json{{"minibatch", step.minibatch},
                      {"samples", step.samples},
                      {"loss", step.loss},
                      {"learning_rate", step.learning_rate},
                      {"seconds", step.seconds.count()}}
      .dump();
}

std::string metrics_line(const Evaluation& evaluation) {
  ordered_json line{{"epoch", evaluation.epoch},
                    {"minibatches", evaluation.minibatches},
                    {"samples", evaluation.samples},
                    {"held_out_loss", evaluation.score.mean_loss()}};
  if (const auto perplexity = evaluation.perplexity()) line["perplexity"] = *perplexity;
  if (const auto accuracy = evaluation.accuracy()) line["accuracy"] = *accuracy;
  if (const auto top5 = evaluation.top5()) line["top5_accuracy"] = *top5;
  line["seconds"] = evaluation.seconds.count();
  line["training_seconds"] = evaluation.training_seconds.count();
  return line.dump();
}

std::string metrics_line(const OddWorkerSeen& odd) {
  return ordered_json{{"worker", odd.worker.worker.value},
                      {"ratio", odd.worker.ratio},
                      {"others", odd.worker.others},
                      {"lasted_seconds", odd.lasted.count()},
                      {"samples", odd.samples},
                      {"seconds", odd.seconds.count()}}
      .dump();
}

}  // namespace pipedream::train
