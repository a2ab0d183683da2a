#include "data/image_folder.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

#include <ATen/ops/empty.h>

#include "core/checksum.h"
#include "core/document.h"
#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/thread.h"
#include "core/thread_pool.h"
#include "data/class_folders.h"
#include "data/image_loader.h"
#include "image/decode.h"
#include "model/threads.h"

namespace pipedream::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kColours = 3;
// The most threads that decode. The thread that loads a batch decodes, too. More threads would take
// cores from the workers, which compute.
constexpr std::size_t kMostDecodingThreads = 7;
constexpr std::size_t kSkippedToLog = 10;
constexpr std::int64_t kLeastBetweenLines = 1000;  // pictures that are checked between log lines

class ImageFolder final : public DataSet {
 public:
  ImageFolder(LabelledFiles files, const PixelValues& values, Classification task,
              const Augmenter& augmenter, std::shared_ptr<ThreadPool> threads)
      : files_(std::move(files)),
        values_(values),
        task_(std::move(task)),
        augmenter_(augmenter),
        threads_(std::move(threads)) {}

  std::int64_t samples() const override { return files_.count(); }

  at::Tensor load(const model::InputSpec& input,
                  std::span<const std::int64_t> samples) const override {
    return loaded(input, samples, std::nullopt);
  }

  at::Tensor load_for_epoch(std::int64_t epoch, const model::InputSpec& input,
                            std::span<const std::int64_t> samples) const override {
    return loaded(input, samples, epoch);
  }

 private:
  // The values of the samples, changed as in `epoch` if that is set. Labels need no decoding.
  [[nodiscard]] at::Tensor loaded(const model::InputSpec& input,
                                  std::span<const std::int64_t> samples,
                                  std::optional<std::int64_t> epoch) const {
    const auto count = static_cast<std::int64_t>(samples.size());
    if (input.name == task_.labels.name) {
      at::Tensor labels = at::empty({count}, at::kLong);
      auto* label = labels.mutable_data_ptr<std::int64_t>();
      for (const std::int64_t sample : samples)
        *label++ = files_.labels[static_cast<std::size_t>(sample)];
      return labels.to(input.type);
    }
    const Sides sides{input.shape[2], input.shape[3]};
    const at::Tensor out = at::empty(
        {count, static_cast<std::int64_t>(kColours), sides.rows, sides.columns}, at::kFloat);
    auto* values = out.mutable_data_ptr<float>();
    const std::size_t each = kColours * sides.pixels();
    threads_->for_each(samples.size(), [&](std::size_t i) {
      normalise(bytes_of(samples[i], sides, epoch), values + i * each);
    });
    return out.to(input.type);
  }

  struct Sides {
    std::int64_t rows;
    std::int64_t columns;
    [[nodiscard]] std::size_t pixels() const { return static_cast<std::size_t>(rows * columns); }
  };
  using Bytes = std::vector<std::uint8_t>;

  [[nodiscard]] image::Picture picture_of(std::int64_t sample) const {
    try {
      return read_picture(files_.path(sample));
    } catch (const BadFile& bad) {
      throw BadFile(
          std::string(bad.what()) +
          "; replace the file, or leave such files out with `skip_bad` from the beginning");
    }
  }

  // One sample, decoded, resized and changed, channel by channel.
  [[nodiscard]] Bytes bytes_of(std::int64_t sample, const Sides& sides,
                               std::optional<std::int64_t> epoch) const {
    const image::Picture picture = picture_of(sample);
    const bool cuts_part = epoch && augmenter_.augmentation().smallest_area;
    Bytes bytes(kColours * sides.pixels());
    Change change = unchanged(sides.rows, sides.columns);
    if (cuts_part) {
      const Change drawn = augmenter_.change_of(*epoch, sample, picture.rows, picture.columns);
      write_resized(picture, drawn.window, sides.rows, sides.columns, bytes.data());
      change.mirrored = drawn.mirrored;
    } else {
      write_middle(picture, sides.rows, sides.columns, bytes.data());
      if (epoch) change = augmenter_.change_of(*epoch, sample, sides.rows, sides.columns);
    }
    if (change == unchanged(sides.rows, sides.columns)) return bytes;
    Bytes changed(bytes.size());
    write_changed({.first = bytes.data(),
                   .channels = static_cast<std::int64_t>(kColours),
                   .rows = sides.rows,
                   .columns = sides.columns,
                   .channel_step = sides.rows * sides.columns,
                   .row_step = sides.columns,
                   .column_step = 1},
                  change, changed.data());
    return changed;
  }

  void normalise(const Bytes& bytes, float* out) const {
    const std::size_t pixels = bytes.size() / kColours;
    for (std::size_t c = 0; c < kColours; ++c)
      for (std::size_t i = 0; i < pixels; ++i) *out++ = values_[c][bytes[c * pixels + i]];
  }

  LabelledFiles files_;
  PixelValues values_;
  Classification task_;
  Augmenter augmenter_;
  std::shared_ptr<ThreadPool> threads_;
};

// Threads that decode, of one of `processes` that share the cores. Each computes alone, because the
// pictures are divided among them already.
std::shared_ptr<ThreadPool> decoding_threads(int processes) {
  const std::size_t cores = own_units().size() / static_cast<std::size_t>(processes);
  const std::size_t count = cores == 0 ? 0 : std::min(cores - 1, kMostDecodingThreads);
  return std::make_shared<ThreadPool>(static_cast<int>(count), "pd-pictures",
                                      [] { model::use_no_other_thread(); });
}

// The numbers of `text`, one for each colour. `usual` if the text is empty.
std::vector<double> colour_numbers(const char* option, const std::string& text,
                                   const std::vector<double>& usual, double least) {
  if (text.empty()) return usual;
  std::vector<double> numbers;
  for (const std::string& part : split(text, ',')) {
    double number = 0;
    const char* end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(part.data(), end, number);
    const bool reads = error == std::errc{} && stop == end && number >= least && number <= 1;
    numbers.push_back(reads ? number : NAN);
  }
  if (numbers.size() == 1) numbers.resize(kColours, numbers[0]);
  const bool all_read =
      std::none_of(numbers.begin(), numbers.end(), [](double n) { return std::isnan(n); });
  if (numbers.size() != kColours || !all_read)
    throw BadUsage("`" + std::string(option) + "`: wanted one number, or three with commas, from " +
                   brief_number(least) + " to 1, found '" + printable(text) + "'");
  return numbers;
}

// What the user wants, or what the weights were trained with, or means and deviations of the pixels
// of ImageNet, scaled to [0, 1].
Normalisation normalisation_of(const DataOptions& options) {
  const auto known = [&](const std::string& wanted, const char* fact) {
    const auto found = options.earlier.find(fact);
    std::string text = !wanted.empty() || found == options.earlier.end() ? wanted : found->second;
    std::erase(text, ' ');
    return text;
  };
  const PictureOptions& pictures = options.pictures;
  return {
      colour_numbers("pixel_mean", known(pictures.pixel_mean, "mean"), {0.485, 0.456, 0.406}, 0),
      colour_numbers("pixel_deviation", known(pictures.pixel_deviation, "standard_deviation"),
                     {0.229, 0.224, 0.225}, 0.001)};
}

Classification want_colour_classifier(const model::Network& network) {
  Classification task = want_classifier(network);
  if (task.values.shape.size() != 4 || task.values.shape[1] != static_cast<std::int64_t>(kColours))
    throw CannotMeet("pictures in files are for networks that read images of 3 channels; '" +
                     network.name + "' reads " + inputs_text(network) +
                     ": choose other data, or another network");
  return task;
}

// Decodes all files, and takes those that cannot be decoded out of the list. Adds what is wrong
// with them to `skipped`.
void leave_out_bad(LabelledFiles& files, ThreadPool& threads, std::vector<std::string>& skipped) {
  std::vector<std::string> wrong(files.names.size());
  const std::int64_t step = std::max(kLeastBetweenLines, files.count() / 10);
  for (std::int64_t first = 0; first < files.count(); first += step) {
    const std::int64_t count = std::min(step, files.count() - first);
    threads.for_each(static_cast<std::size_t>(count), [&](std::size_t i) {
      const std::int64_t file = first + static_cast<std::int64_t>(i);
      try {
        (void)read_picture(files.path(file));
      } catch (const BadFile& bad) {
        wrong[static_cast<std::size_t>(file)] = bad.what();
      }
    });
    log_info(files.folder.string() + ": " + std::to_string(first + count) + " of " +
             counted(files.count(), "picture", "pictures") + " checked");
  }
  LabelledFiles good{files.folder};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    if (!wrong[i].empty()) {
      skipped.push_back(wrong[i]);
      continue;
    }
    good.names.push_back(files.names[i]);
    good.labels.push_back(files.labels[i]);
  }
  for (std::size_t i = 0; i < wrong.size(); ++i)
    if (!wrong[i].empty() &&
        !std::binary_search(good.labels.begin(), good.labels.end(), files.labels[i]))
      throw BadFile("no picture of a class can be decoded; one of them: " + wrong[i]);
  files = std::move(good);
}

void log_skipped(const std::vector<std::string>& skipped) {
  if (skipped.empty()) return;
  log_warning(counted(static_cast<std::int64_t>(skipped.size()), "picture", "pictures") +
              " cannot be decoded and will be left out" +
              (skipped.size() > kSkippedToLog ? "; the first of them:" : ":"));
  for (std::size_t i = 0; i < std::min(skipped.size(), kSkippedToLog); ++i) log_warning(skipped[i]);
}

// The two sets: the folder's own, or its one set divided.
DividedFiles two_sets(ClassFolders folders, const fs::path& where,
                      std::optional<double> held_out_share) {
  if (folders.held_out) {
    want_no_share(held_out_share, where.string());
    return {std::move(folders.training), std::move(*folders.held_out)};
  }
  const std::int64_t all = folders.training.count();
  const std::int64_t held_out = held_out_of(all, held_out_share.value_or(kHeldOutShare));
  log_info(where.string() + " has one set of pictures: " + std::to_string(all - held_out) +
           " are trained on, the other " + std::to_string(held_out) +
           ", of all classes, are held out");
  return hold_out(folders.training, held_out);
}

// A checksum of the names and labels of all files, so that two lists can be compared.
std::string checksum_of_lists(const ClassFolders& folders) {
  Checksum sum;
  for (const LabelledFiles* files :
       {&folders.training, folders.held_out ? &*folders.held_out : nullptr}) {
    if (files == nullptr) continue;
    for (std::size_t i = 0; i < files->names.size(); ++i)
      sum.add(std::to_string(files->labels[i]) + " " + files->names[i] + std::string(1, '\0'));
  }
  return sum.text();
}

std::map<std::string, std::string> facts_of_images(const std::vector<std::string>& classes,
                                                   const Normalisation& normalisation,
                                                   const model::Shape& shape) {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const std::string& name : classes) names.push_back(any_bytes(name));
  return {{"scale", "1/255"},
          {"mean", numbers_text(normalisation.mean)},
          {"standard_deviation", numbers_text(normalisation.deviation)},
          {"channels", "red, green, blue"},
          {"resize", "bilinear with antialiasing, to cover " + std::to_string(shape[2]) + " x " +
                         std::to_string(shape[3]) + "; the middle is used"},
          {"classes", names.dump()}};
}

}  // namespace

Data open_image_folder(const fs::path& folder, const model::Network& network,
                       const DataOptions& options) {
  image::want_decoder();
  const Classification task = want_colour_classifier(network);
  const Normalisation normalisation = normalisation_of(options);
  const Augmenter augmenter(parse_augmentation(options.pictures.augment), options.seed);
  check_padding(augmenter, task.values.shape[2], task.values.shape[3]);
  ClassFolders folders = read_class_folders(folder);
  const auto classes = static_cast<std::int64_t>(folders.classes.size());
  if (classes > task.labels.bound)
    throw CannotMeet("the network tells " + std::to_string(task.labels.bound) + " classes apart, " +
                     folder.string() + " has folders for " + std::to_string(classes) +
                     ": give it `classes` " + std::to_string(classes));
  const auto threads = decoding_threads(options.processes);
  Data data;
  if (options.pictures.skip_bad) {
    leave_out_bad(folders.training, *threads, data.skipped);
    if (folders.held_out) leave_out_bad(*folders.held_out, *threads, data.skipped);
    log_skipped(data.skipped);
  }
  data.facts = facts_of_images(folders.classes, normalisation, task.values.shape);
  data.facts["files"] = checksum_of_lists(folders);
  DividedFiles sets = two_sets(std::move(folders), folder, options.held_out);
  const PixelValues values = pixel_values(normalisation);
  data.training =
      std::make_unique<ImageFolder>(std::move(sets.training), values, task, augmenter, threads);
  data.held_out =
      std::make_unique<ImageFolder>(std::move(sets.held_out), values, task, Augmenter(), threads);
  return data;
}

}  // namespace pipedream::data
