// --out: what a training leaves behind (docs/formats.md#run-folder).
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "train/trainer.h"

namespace pipedream::cli {

// metrics.jsonl: one JSON object a line, on disk as soon as it is written. Throws IoError.
class Metrics {
 public:
  explicit Metrics(const std::filesystem::path& file);
  void add(const train::Step& step);
  void add(const train::Evaluation& evaluation);

 private:
  void write(const std::string& line);

  std::string name_;
  std::ofstream file_;
};

// Makes the folder. One that has a training's results already is refused: they are not to be mixed.
void make_run_folder(const std::filesystem::path& folder);

}  // namespace pipedream::cli
