#include "cli/run_folder.h"

#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"

namespace pipedream::cli {

using nlohmann::ordered_json;

namespace {

constexpr char kMetrics[] = "metrics.jsonl";
constexpr char kSummary[] = "summary.json";

// Whether a training writes files of that name.
bool is_of_a_run(const std::string& name) {
  static const std::set<std::string> names{
      "config.json",  "plan.json",     "profile.json",        "cluster.toml", kMetrics,
      "timeline.svg", "timeline.json", "weights.safetensors", kSummary};
  return names.contains(name) || (name.starts_with("worker") && name.ends_with("-last-ops.txt"));
}

void remove_run(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> left;
  try {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (is_of_a_run(entry.path().filename().string())) left.push_back(entry.path());
    for (const std::filesystem::path& file : left) std::filesystem::remove(file);
  } catch (const std::filesystem::filesystem_error& error) {
    throw IoError("cannot remove what a failed training left: " + std::string(error.what()));
  }
}

}  // namespace

void make_run_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError("cannot make the folder " + folder.string() + ": " + error.message());
  if (is_there(folder / kSummary))
    throw CannotMeet("--out " + folder.string() +
                     " holds the results of another training: name another folder");
}

void begin_run_folder(const std::filesystem::path& folder,
                      const std::map<std::string, std::string>& files) {
  if (is_there(folder / kMetrics)) remove_run(folder);
  for (const auto& [name, content] : files) write_file_atomically(folder / name, content);
}

void end_run_folder(const std::filesystem::path& folder, const std::string& summary) {
  write_file_atomically(folder / kSummary, summary);
}

Metrics::Metrics(const std::filesystem::path& file) : name_(file.string()), file_(file) {
  if (!file_) throw IoError("cannot write " + name_);
}

void Metrics::write(const std::string& line) {
  file_ << line << "\n" << std::flush;
  if (!file_) throw IoError("cannot write " + name_);
}

void Metrics::add(const train::Step& step) {
  write(ordered_json{{"minibatch", step.minibatch},
                     {"samples", step.samples},
                     {"loss", step.loss},
                     {"seconds", step.seconds.count()}}
            .dump());
}

void Metrics::add(const train::Evaluation& evaluation) {
  ordered_json line{{"epoch", evaluation.epoch},
                    {"minibatches", evaluation.minibatches},
                    {"held_out_loss", evaluation.score.mean_loss()}};
  if (const auto perplexity = evaluation.perplexity()) line["perplexity"] = *perplexity;
  if (const auto accuracy = evaluation.accuracy()) line["accuracy"] = *accuracy;
  line["seconds"] = evaluation.seconds.count();
  write(line.dump());
}

}  // namespace pipedream::cli
