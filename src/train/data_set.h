// What training reads: data sets, and how `--data` names them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "model/network.h"

namespace pipedream::train {

// Samples that a network learns from. Immutable once opened; safe to share between threads.
class DataSet {
 public:
  virtual ~DataSet() = default;

  [[nodiscard]] virtual std::int64_t samples() const = 0;

  // What the network's input reads for these samples, in this order along dimension 0; on the CPU.
  // `input` is one of the network that the data set was opened for.
  [[nodiscard]] virtual at::Tensor load(const model::InputSpec& input,
                                        std::span<const std::int64_t> samples) const = 0;
};

// Neither is null or empty.
struct Data {
  std::unique_ptr<const DataSet> training;
  std::unique_ptr<const DataSet> held_out;  // never trained on
};

// The data that `spec` names, for this network:
//   "synthetic" or ""  made up from the seed (train/synthetic.h)
//   "idx:DIR"          images in MNIST's format (train/idx.h)
//   "text:FILE"        characters for language models (train/text.h)
// Throws BadUsage for another spec, with the nearest; CannotMeet where the data does not fit the
// network; BadFile or IoError for the files.
[[nodiscard]] Data open_data(const std::string& spec, const model::Network& network,
                             std::uint64_t seed);

}  // namespace pipedream::train
