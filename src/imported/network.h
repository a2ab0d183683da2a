// Networks that PyTorch users bring along: files of torch.export (docs/own_models.md).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "imported/functional.h"
#include "imported/grouping.h"
#include "imported/losses.h"
#include "imported/special.h"
#include "model/network.h"
#include "pt2/archive.h"

namespace pipedream::imported {

// An exported model, opened. Immutable, so safe to share between threads.
class Model {
 public:
  // Opens the file and looks whether it can be trained. Throws IoError, BadFile, and CannotMeet
  // with a list of all operators that are not supported and the modules that call them.
  explicit Model(const std::filesystem::path& file, Kernels kernels = Kernels::kFastest);

  [[nodiscard]] const std::string& name() const { return name_; }
  // The loss that fits what the model takes and returns.
  [[nodiscard]] Loss default_loss() const;
  // The number of samples that every minibatch must have; nullopt if any number will do.
  [[nodiscard]] std::optional<std::int64_t> fixed_batch() const;
  // What a user should know before training, a line each.
  [[nodiscard]] std::vector<std::string> notes() const;

  // The network for minibatches of `batch` samples. It shares the open file. Throws CannotMeet if
  // the model cannot have this loss or this batch.
  [[nodiscard]] model::Network network(Loss loss, std::int64_t batch) const;

 private:
  // The network without what it says about the file.
  [[nodiscard]] model::Network assembled(Loss loss, std::int64_t batch) const;

  std::string name_;
  Kernels kernels_;
  std::shared_ptr<const pt2::Archive> archive_;
  SafeProgram safe_;
  std::vector<bool> is_trained_;  // by tensor of the program
  std::vector<LayerCalls> layers_;
  std::map<std::string, std::string> second_names_;  // Network::second_names
};

}  // namespace pipedream::imported
