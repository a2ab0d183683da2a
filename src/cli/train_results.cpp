#include "cli/train_results.h"

#include <functional>
#include <iostream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"
#include "model/weights_file.h"
#include "report/timeline_svg.h"
#include "report/trace.h"

namespace pipedream::cli {
namespace {

model::NamedTensors all_of(const runtime::Weights& weights) {
  model::NamedTensors all = weights.parameters;
  all.insert(weights.buffers.begin(), weights.buffers.end());
  return all;
}

// Writes files one after another. A failed write does not prevent the next one.
class Writer {
 public:
  void write(const std::filesystem::path& file, const std::function<void()>& action) {
    try {
      action();
      std::cerr << "written to " << file.string() << "\n";
    } catch (const IoError& error) {
      failures_ += (failures_.empty() ? "" : "\n  ") + std::string(error.what());
    }
  }
  [[nodiscard]] const std::string& failures() const { return failures_; }

 private:
  std::string failures_;
};

}  // namespace

std::string write_results(const TrainFlags& flags, const train::RunFolder* folder,
                          const report::TrainingRun& run, const train::TrainingOutcome& outcome,
                          const model::WeightsMetadata& metadata) {
  Writer writer;
  const auto write_weights = [&](const std::filesystem::path& file) {
    writer.write(file, [&] {
      model::NamedTensors all = all_of(outcome.weights);
      model::WeightsMetadata about = metadata;
      model::make_state_dict(all, about);
      model::write_weights(file, all, about);
    });
  };
  const auto write_text = [&](const std::filesystem::path& file, auto make) {
    writer.write(file, [&] { write_file_atomically(file, make()); });
  };
  const auto picture = [&] {
    return report::timeline_svg(
        outcome.measured.timeline,
        {.title = report::training_title(run), .subtitle = report::training_line(run)});
  };
  const auto trace = [&] {
    return report::trace_json(outcome.measured.timeline, {.title = report::training_title(run)});
  };
  if (!flags.weights_file.empty()) write_weights(flags.weights_file);
  if (folder != nullptr) {
    write_weights(folder->file(train::kWeightsFile));
    write_text(folder->file(train::kSummaryFile),
               [&] { return report::training_json(run).dump(2) + "\n"; });
    write_text(folder->file(train::kPictureFile), picture);
    write_text(folder->file(train::kTraceFile), trace);
  }
  if (!flags.svg.empty()) write_text(flags.svg, picture);
  if (!flags.trace.empty()) write_text(flags.trace, trace);
  return writer.failures();
}

}  // namespace pipedream::cli
