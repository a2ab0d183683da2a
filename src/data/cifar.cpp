#include "data/cifar.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include "core/error.h"
#include "core/file.h"
#include "core/mapped_file.h"
#include "core/text.h"
#include "data/picture_set.h"

namespace pipedream::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kChannels = 3;
constexpr std::int64_t kSide = 32;
constexpr std::size_t kPixels = kChannels * kSide * kSide;

// One of the two data sets. A record is the labels, a byte each, then the pixels channel by
// channel.
struct CifarKind {
  std::vector<std::string> training;  // files
  std::string held_out;
  std::size_t labels;  // of a record; the last one is learned
  int classes;
  Normalisation normalisation;
};

const CifarKind& cifar10() {
  static const CifarKind kind{{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                               "data_batch_4.bin", "data_batch_5.bin"},
                              "test_batch.bin",
                              1,
                              10,
                              {{0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}}};
  return kind;
}

const CifarKind& cifar100() {
  static const CifarKind kind{
      {"train.bin"}, "test.bin", 2, 100, {{0.5071, 0.4865, 0.4409}, {0.2673, 0.2564, 0.2762}}};
  return kind;
}

Pictures read_pictures(const fs::path& path, const CifarKind& kind) {
  const MappedFile file(path);
  const std::string_view content = file.content();
  const std::size_t record = kind.labels + kPixels;
  if (content.empty() || content.size() % record != 0)
    throw BadFile(path.string() + ": byte " + std::to_string(content.size() / record * record) +
                  ": wanted whole images of " + std::to_string(record) + " bytes, found " +
                  std::to_string(content.size()) + " bytes in all");
  const auto count = static_cast<std::int64_t>(content.size() / record);
  Pictures read{at::empty({count, kChannels, kSide, kSide}, at::kByte),
                at::empty({count}, at::kByte)};
  auto* pixels = read.pixels.mutable_data_ptr<std::uint8_t>();
  auto* labels = read.labels.mutable_data_ptr<std::uint8_t>();
  for (std::size_t begin = 0; begin < content.size(); begin += record) {
    const std::size_t at = begin + kind.labels - 1;
    const auto label = static_cast<std::uint8_t>(content[at]);
    if (label >= kind.classes)
      throw BadFile(path.string() + ": byte " + std::to_string(at) + ": wanted a label below " +
                    std::to_string(kind.classes) + ", found " + std::to_string(label));
    *labels++ = label;
    pixels = std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(at + 1), kPixels, pixels);
  }
  return read;
}

// The pictures of all files of the list that are there.
std::optional<Pictures> read_all(const fs::path& folder, const std::vector<std::string>& names,
                                 const CifarKind& kind) {
  std::vector<at::Tensor> pixels;
  std::vector<at::Tensor> labels;
  for (const std::string& name : names) {
    if (!is_there(folder / name)) continue;
    Pictures read = read_pictures(folder / name, kind);
    pixels.push_back(read.pixels);
    labels.push_back(read.labels);
  }
  if (pixels.empty()) return std::nullopt;
  return Pictures{at::cat(pixels), at::cat(labels)};
}

}  // namespace

Data open_cifar(const fs::path& folder, const model::Network& network,
                std::optional<double> held_out_share, const Augmenter& augmenter) {
  for (const CifarKind& kind : {cifar10(), cifar100()}) {
    const auto training = read_all(folder, kind.training, kind);
    if (!training) continue;
    const auto held_out = read_all(folder, {kind.held_out}, kind);
    if (held_out) want_no_share(held_out_share, folder.string());
    const PictureSets sets =
        held_out ? PictureSets{*training, *held_out}
                 : divided(*training, folder, held_out_share.value_or(kHeldOutShare));
    return picture_data(sets, kind.normalisation, network, folder, augmenter);
  }
  throw IoError(
      folder.string() +
      ": there is neither a data_batch_1.bin (CIFAR-10) nor a train.bin (CIFAR-100): name "
      "the folder that the binary version unpacks to");
}

}  // namespace pipedream::data
