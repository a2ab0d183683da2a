#include "data/picture_set.h"

#include <algorithm>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/upsample_bilinear2d.h>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"

namespace pipedream::data {
namespace {

class PictureSet final : public DataSet {
 public:
  PictureSet(Pictures pictures, Normalisation normalisation, Classification task,
             const Augmenter& augmenter)
      : pictures_(std::move(pictures)),
        normalisation_(std::move(normalisation)),
        task_(std::move(task)),
        augmenter_(augmenter) {}

  std::int64_t samples() const override { return pictures_.count(); }

  at::Tensor load(const model::InputSpec& input,
                  std::span<const std::int64_t> samples) const override {
    const at::Tensor index =
        at::from_blob(const_cast<std::int64_t*>(samples.data()),  // index_select only reads it
                      {static_cast<std::int64_t>(samples.size())}, at::kLong);
    if (input.name == task_.labels.name)
      return pictures_.labels.index_select(0, index).to(input.type);
    return prepared(pictures_.pixels.index_select(0, index), input);
  }

  at::Tensor load_for_epoch(std::int64_t epoch, const model::InputSpec& input,
                            std::span<const std::int64_t> samples) const override {
    if (augmenter_.augmentation().is_none() || input.name == task_.labels.name || samples.empty())
      return load(input, samples);
    std::vector<at::Tensor> changed;
    for (const std::int64_t sample : samples)
      changed.push_back(changed_picture(epoch, sample).unsqueeze(0));
    if (!augmenter_.augmentation().smallest_area) return prepared(at::cat(changed), input);
    for (at::Tensor& picture : changed) picture = prepared(picture, input);  // each of its own size
    return at::cat(changed);
  }

 private:
  // The bytes of one changed picture, [channels, rows, columns].
  [[nodiscard]] at::Tensor changed_picture(std::int64_t epoch, std::int64_t sample) const {
    const at::Tensor picture = pictures_.pixels.select(0, sample);
    const Change change =
        augmenter_.change_of(epoch, sample, pictures_.rows(), pictures_.columns());
    at::Tensor out =
        at::empty({pictures_.channels(), change.window.rows, change.window.columns}, at::kByte);
    write_changed({.first = picture.const_data_ptr<std::uint8_t>(),
                   .channels = picture.size(0),
                   .rows = picture.size(1),
                   .columns = picture.size(2),
                   .channel_step = picture.stride(0),
                   .row_step = picture.stride(1),
                   .column_step = picture.stride(2)},
                  change, out.mutable_data_ptr<std::uint8_t>());
    return out;
  }

  // Bytes [N, channels, rows, columns] as the values that `input` reads.
  [[nodiscard]] at::Tensor prepared(const at::Tensor& bytes, const model::InputSpec& input) const {
    at::Tensor pixels = bytes.to(at::kFloat).div_(255);
    for (std::int64_t c = 0; c < pictures_.channels(); ++c) {
      const auto i = static_cast<std::size_t>(c);
      pixels.select(1, c).sub_(normalisation_.mean[i]).div_(normalisation_.deviation[i]);
    }
    return shaped(pixels, input).to(input.type);
  }

  // Normalised pixels [N, channels, rows, columns] in the shape that `input` reads.
  [[nodiscard]] at::Tensor shaped(at::Tensor images, const model::InputSpec& input) const {
    const bool reads_features = input.shape.size() == 2;
    const std::int64_t height = reads_features ? pictures_.rows() : input.shape[2];
    const std::int64_t width = reads_features ? pictures_.columns() : input.shape[3];
    if (images.size(2) != height || images.size(3) != width)
      images = at::upsample_bilinear2d(images, {height, width}, /*align_corners=*/false);
    if (reads_features) return images.flatten(1);
    return images.expand({-1, input.shape[1], -1, -1}).contiguous();
  }

  Pictures pictures_;
  Normalisation normalisation_;
  Classification task_;
  Augmenter augmenter_;
};

std::string sides(const Pictures& pictures) {
  return std::to_string(pictures.rows()) + " x " + std::to_string(pictures.columns()) + " pixels" +
         (pictures.channels() == 1 ? ""
                                   : " of " + std::to_string(pictures.channels()) + " channels");
}

void check_channels(std::int64_t wanted, std::int64_t found, const std::string& where) {
  if (wanted == found || (found == 1 && wanted == 3)) return;
  throw CannotMeet("the network reads images of " + counted(wanted, "channel", "channels") +
                   ", those of " + where + " have " +
                   (found == 1 ? "one, which can be read as 1 or 3" : std::to_string(found)) +
                   ": choose such a network");
}

void check_values(const Pictures& pictures, const model::InputSpec& values,
                  const std::string& where) {
  const std::int64_t wanted = values.shape[1];
  if (values.shape.size() == 4) return check_channels(wanted, pictures.channels(), where);
  const std::int64_t found = pictures.channels() * pictures.rows() * pictures.columns();
  if (wanted != found)
    throw CannotMeet("the network reads " + std::to_string(wanted) + " " + values.name +
                     " per sample, images of " + where + " have " + sides(pictures) +
                     ": give it `inputs` " + std::to_string(found));
}

void check_labels(const Pictures& pictures, const model::InputSpec& labels,
                  const std::string& where) {
  if (pictures.count() == 0) return;
  const std::int64_t highest = pictures.labels.max().item<std::int64_t>();
  if (highest >= labels.bound)
    throw CannotMeet("the network tells " + std::to_string(labels.bound) +
                     " classes apart, labels of " + where + " go up to " + std::to_string(highest) +
                     ": give it `classes` " + std::to_string(highest + 1));
}

// How pictures were prepared, for whoever uses the weights elsewhere.
std::map<std::string, std::string> facts_of(const Pictures& pictures,
                                            const Normalisation& normalisation,
                                            const Classification& task) {
  std::map<std::string, std::string> facts{
      {"scale", "1/255"},
      {"mean", numbers_text(normalisation.mean)},
      {"standard_deviation", numbers_text(normalisation.deviation)},
      {"image_rows", std::to_string(pictures.rows())},
      {"image_columns", std::to_string(pictures.columns())}};
  const model::Shape& shape = task.values.shape;
  if (shape.size() != 4) return facts;
  if (pictures.rows() != shape[2] || pictures.columns() != shape[3])
    facts["resize"] = "bilinear to " + std::to_string(shape[2]) + " x " + std::to_string(shape[3]) +
                      ", corners not aligned";
  if (shape[1] > pictures.channels())
    facts["channels"] = "the same image " + std::to_string(shape[1]) + " times";
  return facts;
}

}  // namespace

PictureSets divided(const Pictures& pictures, const std::filesystem::path& where,
                    double held_out_share) {
  const std::int64_t held_out = held_out_of(pictures.count(), held_out_share);
  const std::int64_t training = pictures.count() - held_out;
  log_info(where.string() + " has one set of images: " + std::to_string(training) +
           " are trained on, the other " + std::to_string(held_out) + " are held out");
  return {pictures.part(0, training), pictures.part(training, held_out)};
}

void check_padding(const Augmenter& augmenter, std::int64_t rows, std::int64_t columns) {
  const std::int64_t padding = augmenter.augmentation().padding;
  if (padding >= std::min(rows, columns))
    throw CannotMeet("`augment` crop:" + std::to_string(padding) + ": the pictures have " +
                     std::to_string(rows) + " x " + std::to_string(columns) +
                     " pixels: choose less padding than that");
}

Classification want_classifier(const model::Network& network) {
  const auto task = task_of(network);
  if (!task || !std::holds_alternative<Classification>(*task))
    throw CannotMeet("images with labels are for classifiers; '" + network.name + "' reads " +
                     inputs_text(network) + ": choose other data, or another network");
  return std::get<Classification>(*task);
}

std::string numbers_text(const std::vector<double>& numbers) {
  return joined(numbers, [](double number) { return brief_number(number); });
}

Data picture_data(PictureSets sets, const Normalisation& normalisation,
                  const model::Network& network, const std::filesystem::path& where,
                  const Augmenter& augmenter) {
  const Classification classification = want_classifier(network);
  for (const Pictures* pictures : {&sets.training, &sets.held_out}) {
    check_values(*pictures, classification.values, where.string());
    check_labels(*pictures, classification.labels, where.string());
  }
  check_padding(augmenter, sets.training.rows(), sets.training.columns());
  auto facts = facts_of(sets.training, normalisation, classification);
  return {std::make_unique<PictureSet>(std::move(sets.training), normalisation, classification,
                                       augmenter),
          std::make_unique<PictureSet>(std::move(sets.held_out), normalisation, classification,
                                       Augmenter()),
          std::move(facts)};
}

}  // namespace pipedream::data
