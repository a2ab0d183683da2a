// Data sets that training reads, and how `--data` names them (docs/runtime.md, data).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/picture_options.h"
#include "model/network.h"
#include "text/vocabulary.h"

namespace pipedream::data {

// Samples that a network learns from, numbered from 0. Immutable once opened; safe to share between
// threads.
class DataSet {
 public:
  virtual ~DataSet() = default;

  // How many samples the data set has.
  [[nodiscard]] virtual std::int64_t samples() const = 0;

  // Returns the values of `input` for the samples with these numbers, stacked along dimension 0 in
  // the given order, on the CPU. `input` must be an input of the network that the data set was
  // opened for.
  [[nodiscard]] virtual at::Tensor load(const model::InputSpec& input,
                                        std::span<const std::int64_t> samples) const = 0;

  // As load(), for training in epoch `epoch`. A data set that changes its samples at random (crops
  // or flips images, say) draws the changes from its seed, the epoch and the sample's number, so
  // that equal arguments give equal values on all workers.
  [[nodiscard]] virtual at::Tensor load_for_epoch(std::int64_t epoch, const model::InputSpec& input,
                                                  std::span<const std::int64_t> samples) const {
    (void)epoch;
    return load(input, samples);
  }
};

// The share of the samples that is held out, the last ones, if a file has no held-out samples of
// its own and the user names no share.
inline constexpr double kHeldOutShare = 0.1;
inline constexpr double kMostHeldOut = 0.9;  // the largest share that a user may name

// Returns how many of `all` samples, or characters, are `share` of them, rounded down.
[[nodiscard]] std::int64_t share_of(std::int64_t all, double share);
// Returns how many of `all` samples are held out. Throws CannotMeet if `share` is not 0, but makes
// less than one.
[[nodiscard]] std::int64_t held_out_of(std::int64_t all, double share);
// Throws BadUsage if `held_out` is more than 0: `data` has held-out samples of its own.
void want_no_share(std::optional<double> held_out, const std::string& data);

// The two data sets of a training run. Each has at least one sample.
struct Data {
  std::unique_ptr<const DataSet> training;  // never null
  // For evaluation; never trained on. Null if the user holds nothing out.
  std::unique_ptr<const DataSet> held_out;
  // How samples were prepared, for whoever uses the trained weights elsewhere: normalisation,
  // resizing, the table of tokens.
  std::map<std::string, std::string> facts{};
  // Files that were left out because they are damaged, each with what is wrong with it.
  std::vector<std::string> skipped{};
  // How text became tokens; null if there is none. Set by set_vocabulary().
  std::shared_ptr<const text::Vocabulary> vocabulary{};
  // Whether labels may be padding, which the network's loss must ignore (model/padding.h).
  bool has_padding = false;

  // Sets `vocabulary`, and adds its file to the facts.
  void set_vocabulary(std::shared_ptr<const text::Vocabulary> used);
};

// How data is opened, besides where it is.
struct DataOptions {
  std::uint64_t seed = 0;          // of data that is made up, and of `pictures.augment`
  std::optional<double> held_out;  // the share that is held out; 0 for none
  PictureOptions pictures{};       // of data that has pictures
  std::string tokeniser{};         // of text (data/tokeniser.h); empty for the data's own default
  // Data::facts of the data that the network's weights were trained with, if they were. Text then
  // becomes the tokens that the weights know.
  std::map<std::string, std::string> earlier{};
  int processes = 1;  // of the training on this machine; they share its cores
};

// Whether the data that `spec` names has this option of DataOptions: "tokeniser", "augment",
// "skip_bad", "pixel_mean" or "pixel_deviation". True for all other options.
[[nodiscard]] bool takes_option(const std::string& spec, const std::string& option);

// Opens the data that `spec` names for `network`:
//   "synthetic" or ""  generated from `DataOptions::seed` (data/synthetic.h)
//   "idx:DIR"          images in MNIST's format (data/idx.h)
//   "cifar:DIR"        images of CIFAR-10 or CIFAR-100 (data/cifar.h)
//   "images:DIR"       PNG and JPEG files, a folder for each class (data/image_folder.h)
//   "tokens:FILE[,FILE]"  numbers of tokens for language models (data/tokens.h)
//   "text:FILE"        characters or tokens for language models (data/text.h)
//   "pairs:FILE,FILE[,FILE,FILE]"  sentences and their translations (data/pairs.h)
//   "safetensors:FILE[,FILE]", "npy:FILE,…"  tensors of any kind (data/tensor_files.h)
// Throws BadUsage, suggesting the nearest name, for any other `spec`, for a share of data that has
// held-out samples of its own, and for options that the data does not have (takes_option). Throws
// CannotMeet if the data does not fit the network, and IoError or BadFile if a file cannot be read
// or its content is wrong.
[[nodiscard]] Data open_data(const std::string& spec, const model::Network& network,
                             const DataOptions& options = {});

}  // namespace pipedream::data
