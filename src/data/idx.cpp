#include "data/idx.h"

#include <optional>

#include <ATen/ops/empty.h>

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "data/idx_format.h"
#include "data/picture_set.h"

namespace pipedream::data {
namespace {

namespace fs = std::filesystem;

// Mean and standard deviation of MNIST's pixels, scaled to [0, 1].
constexpr double kMean = 0.1307;
constexpr double kDeviation = 0.3081;

// The path of the plain or compressed file of that name, if the folder has one.
std::optional<fs::path> find_file(const fs::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"})
    if (is_there(folder / (name + ending))) return folder / (name + ending);
  return std::nullopt;
}

at::Tensor read_array(const fs::path& path, std::size_t dimensions) {
  const IdxArray array = parse_idx(read_file(path), path.string());
  if (array.shape.size() != dimensions)
    throw BadFile(path.string() + ": byte 3: wanted " + std::to_string(dimensions) +
                  " dimensions, found " + std::to_string(array.shape.size()));
  if (array.bytes.empty()) throw BadFile(path.string() + ": byte 4: it holds nothing");
  const at::Tensor out = at::empty(array.shape, at::kByte);
  std::copy(array.bytes.begin(), array.bytes.end(), out.mutable_data_ptr<std::uint8_t>());
  return out;
}

// Reads the images and labels of the set "train" or "t10k"; nullopt if the folder has no such
// images. Throws IoError if it has images without labels.
std::optional<Pictures> read_set(const fs::path& folder, const std::string& set) {
  const auto images = find_file(folder, set + "-images-idx3-ubyte");
  if (!images) return std::nullopt;
  const auto labels = find_file(folder, set + "-labels-idx1-ubyte");
  if (!labels)
    throw IoError(folder.string() + ": " + images->filename().string() + " is there, but no " +
                  set + "-labels-idx1-ubyte[.gz]");
  Pictures read{read_array(*images, 3).unsqueeze(1), read_array(*labels, 1)};
  if (read.pixels.size(0) != read.labels.size(0))
    throw BadFile(labels->string() + ": byte 4: " + std::to_string(read.labels.size(0)) +
                  " labels for the " + std::to_string(read.pixels.size(0)) + " images of " +
                  images->filename().string());
  return read;
}

PictureSets read_sets(const fs::path& folder, std::optional<double> held_out_share) {
  const auto training = read_set(folder, "train");
  const auto held_out = read_set(folder, "t10k");
  if (training && held_out) {
    want_no_share(held_out_share, folder.string());
    return {*training, *held_out};
  }
  if (!training && !held_out)
    throw IoError(folder.string() +
                  ": there is neither a train-images-idx3-ubyte[.gz] nor a "
                  "t10k-images-idx3-ubyte[.gz]");
  return divided(training ? *training : *held_out, folder,
                 held_out_share.value_or(kIdxHeldOutShare));
}

}  // namespace

Data open_idx(const fs::path& folder, const model::Network& network,
              std::optional<double> held_out_share, const Augmenter& augmenter) {
  return picture_data(read_sets(folder, held_out_share), {{kMean}, {kDeviation}}, network, folder,
                      augmenter);
}

}  // namespace pipedream::data
