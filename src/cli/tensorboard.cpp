#include "cli/tensorboard.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <unistd.h>

#include "core/error.h"
#include "core/log.h"
#include "train/event_records.h"
#include "train/run_folder.h"

namespace pipedream::cli {
namespace {

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The name that TensorBoard looks for. The newest file of a folder sorts last.
std::string file_name() {
  return "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(wall_time())) +
         ".pipedream." + std::to_string(::getpid());
}

}  // namespace

TensorBoard::TensorBoard(const std::filesystem::path& folder) {
  train::make_folders(folder);
  const std::filesystem::path path = folder / file_name();
  name_ = path.string();
  file_.open(path, std::ios::binary);
  if (!file_) throw IoError("cannot write " + name_ + ": " + std::strerror(errno));
  write(train::version_event(wall_time()));
}

void TensorBoard::write(const std::string& event) {
  if (failed_) return;
  errno = 0;
  file_ << train::framed(event) << std::flush;
  if (file_) return;
  failed_ = true;
  log_warning("cannot write " + name_ +
              (errno != 0 ? std::string(": ") + std::strerror(errno) : "") +
              "; training goes on without it");
}

void TensorBoard::add(std::int64_t step,
                      const std::vector<std::pair<std::string, double>>& values) {
  write(train::scalars_event(wall_time(), step, values));
}

void TensorBoard::add(const train::Step& step) {
  add(step.minibatch + 1, {{"loss/train", step.loss},
                           {"learning_rate", step.learning_rate},
                           {"samples_per_second", step.samples_per_second()}});
}

void TensorBoard::add(const train::Evaluation& evaluation) {
  std::vector<std::pair<std::string, double>> values{
      {"loss/held_out", evaluation.score.mean_loss()}};
  if (const auto accuracy = evaluation.accuracy()) values.emplace_back("accuracy", *accuracy);
  if (const auto top5 = evaluation.top5()) values.emplace_back("top5_accuracy", *top5);
  if (const auto perplexity = evaluation.perplexity())
    values.emplace_back("perplexity", *perplexity);
  add(evaluation.minibatches, values);
}

}  // namespace pipedream::cli
