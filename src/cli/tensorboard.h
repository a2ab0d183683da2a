// The flag --tensorboard: the curves of a training as a file that TensorBoard reads.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/trainer.h"

namespace pipedream::cli {

// One event file. The step of a value is the number of minibatches trained so far. A failed write
// is reported once, in a warning, and the training goes on.
class TensorBoard {
 public:
  // Makes the folder and the file in it. Throws IoError.
  explicit TensorBoard(const std::filesystem::path& folder);

  void add(const train::Step& step);
  void add(const train::Evaluation& evaluation);

 private:
  void add(std::int64_t step, const std::vector<std::pair<std::string, double>>& values);
  void write(const std::string& event);

  std::string name_;
  std::ofstream file_;
  bool failed_ = false;
};

}  // namespace pipedream::cli
