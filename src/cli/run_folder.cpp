#include "cli/run_folder.h"

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace pipedream::cli {

using nlohmann::ordered_json;

void make_run_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError("cannot make the folder " + folder.string() + ": " + error.message());
  if (std::filesystem::exists(folder / "metrics.jsonl"))
    throw CannotMeet("--out " + folder.string() +
                     " holds the results of another training: name another folder");
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
