#include "train/idx.h"

#include <optional>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/upsample_bilinear2d.h>

#include "core/error.h"
#include "core/file.h"
#include "core/log.h"
#include "core/text.h"
#include "train/idx_format.h"
#include "train/task.h"

namespace pipedream::train {
namespace {

namespace fs = std::filesystem;

// Mean and standard deviation of MNIST's pixels, scaled to [0, 1].
constexpr double kMean = 0.1307;
constexpr double kDeviation = 0.3081;

// Images and labels as the files have them. Images are resized when they are loaded, which costs
// little; resizing all of them in advance could take a hundred times the memory.
struct Images {
  at::Tensor pixels;  // [samples, rows, columns], bytes
  at::Tensor labels;  // [samples], bytes
  [[nodiscard]] std::int64_t count() const { return labels.size(0); }
  [[nodiscard]] Images part(std::int64_t first, std::int64_t samples) const {
    return {pixels.narrow(0, first, samples), labels.narrow(0, first, samples)};
  }
};

class ImageSet final : public DataSet {
 public:
  ImageSet(Images images, Classification task)
      : images_(std::move(images)), task_(std::move(task)) {}

  std::int64_t samples() const override { return images_.count(); }

  at::Tensor load(const model::InputSpec& input,
                  std::span<const std::int64_t> samples) const override {
    const at::Tensor index =
        at::from_blob(const_cast<std::int64_t*>(samples.data()),  // index_select only reads it
                      {static_cast<std::int64_t>(samples.size())}, at::kLong);
    if (input.name == task_.labels.name)
      return images_.labels.index_select(0, index).to(input.type);
    const at::Tensor pixels = images_.pixels.index_select(0, index).to(at::kFloat);
    return shaped(pixels.div_(255).sub_(kMean).div_(kDeviation), input).to(input.type);
  }

 private:
  // Normalised pixels [N, rows, columns] in the shape that `input` reads.
  static at::Tensor shaped(const at::Tensor& pixels, const model::InputSpec& input) {
    if (input.shape.size() == 2) return pixels.flatten(1);
    const std::int64_t height = input.shape[2];
    const std::int64_t width = input.shape[3];
    at::Tensor images = pixels.unsqueeze(1);
    if (images.size(2) != height || images.size(3) != width)
      images = at::upsample_bilinear2d(images, {height, width}, /*align_corners=*/false);
    return images.expand({-1, input.shape[1], -1, -1}).contiguous();
  }

  Images images_;
  Classification task_;
};

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
std::optional<Images> read_set(const fs::path& folder, const std::string& set) {
  const auto images = find_file(folder, set + "-images-idx3-ubyte");
  if (!images) return std::nullopt;
  const auto labels = find_file(folder, set + "-labels-idx1-ubyte");
  if (!labels)
    throw IoError(folder.string() + ": " + images->filename().string() + " is there, but no " +
                  set + "-labels-idx1-ubyte[.gz]");
  Images read{read_array(*images, 3), read_array(*labels, 1)};
  if (read.pixels.size(0) != read.labels.size(0))
    throw BadFile(labels->string() + ": byte 4: " + std::to_string(read.labels.size(0)) +
                  " labels for the " + std::to_string(read.pixels.size(0)) + " images of " +
                  images->filename().string());
  return read;
}

std::string sides(const Images& images) {
  return std::to_string(images.pixels.size(1)) + " x " + std::to_string(images.pixels.size(2));
}

void check_values(const Images& images, const model::InputSpec& values, const fs::path& folder) {
  const std::int64_t pixels = images.pixels.size(1) * images.pixels.size(2);
  const std::int64_t wanted = values.shape[1];
  if (values.shape.size() == 2 && wanted != pixels)
    throw CannotMeet("the network reads " + std::to_string(wanted) + " " + values.name +
                     " per sample, images of " + folder.string() + " have " + sides(images) +
                     " pixels: give it `inputs` " + std::to_string(pixels));
  if (values.shape.size() == 4 && wanted != 1 && wanted != 3)
    throw CannotMeet("the network reads images of " + std::to_string(wanted) +
                     " channels, those of " + folder.string() +
                     " have one, which can be read as 1 or 3: choose such a network");
}

void check_labels(const Images& images, const model::InputSpec& labels, const fs::path& folder) {
  if (images.count() == 0) return;
  const std::int64_t highest = images.labels.max().item<std::int64_t>();
  if (highest >= labels.bound)
    throw CannotMeet("the network tells " + std::to_string(labels.bound) +
                     " classes apart, labels of " + folder.string() + " go up to " +
                     std::to_string(highest) + ": give it `classes` " +
                     std::to_string(highest + 1));
}

struct Sets {
  Images training;
  Images held_out;
};

// Divides the only set into images to train on and images to hold out.
Sets split(const Images& images, const fs::path& folder, double held_out_share) {
  const std::int64_t held_out = held_out_of(images.count(), held_out_share);
  const std::int64_t training = images.count() - held_out;
  log_info(folder.string() + " has one set of images: " + std::to_string(training) +
           " are trained on, the other " + std::to_string(held_out) + " are held out");
  return {images.part(0, training), images.part(training, held_out)};
}

Sets read_sets(const fs::path& folder, std::optional<double> held_out_share) {
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
  return split(training ? *training : *held_out, folder, held_out_share.value_or(kIdxHeldOutShare));
}

std::map<std::string, std::string> facts_of(const Images& images, const Classification& task) {
  std::map<std::string, std::string> facts{
      {"scale", "1/255"},
      {"mean", brief_number(kMean)},
      {"standard_deviation", brief_number(kDeviation)},
      {"image_rows", std::to_string(images.pixels.size(1))},
      {"image_columns", std::to_string(images.pixels.size(2))}};
  const model::Shape& shape = task.values.shape;
  if (shape.size() == 4 && (images.pixels.size(1) != shape[2] || images.pixels.size(2) != shape[3]))
    facts["resize"] = "bilinear to " + std::to_string(shape[2]) + " x " + std::to_string(shape[3]) +
                      ", corners not aligned";
  if (shape.size() == 4 && shape[1] > 1)
    facts["channels"] = "the same image " + std::to_string(shape[1]) + " times";
  return facts;
}

}  // namespace

Data open_idx(const fs::path& folder, const model::Network& network,
              std::optional<double> held_out_share) {
  const auto task = task_of(network);
  if (!task || !std::holds_alternative<Classification>(*task))
    throw CannotMeet("images with labels are for classifiers; '" + network.name + "' reads " +
                     inputs_text(network) + ": choose other data, or another network");
  const auto& classification = std::get<Classification>(*task);
  const Sets sets = read_sets(folder, held_out_share);
  for (const Images& images : {sets.training, sets.held_out}) {
    check_values(images, classification.values, folder);
    check_labels(images, classification.labels, folder);
  }
  return {std::make_unique<ImageSet>(sets.training, classification),
          std::make_unique<ImageSet>(sets.held_out, classification),
          facts_of(sets.training, classification)};
}

}  // namespace pipedream::train
