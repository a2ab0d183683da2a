#include "data/picture_set.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/upsample_bilinear2d.h>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"

namespace pipedream::data {
namespace {

class PictureSet final : public DataSet {
 public:
  PictureSet(Pictures pictures, Normalisation normalisation, Classification task)
      : pictures_(std::move(pictures)),
        normalisation_(std::move(normalisation)),
        task_(std::move(task)) {}

  std::int64_t samples() const override { return pictures_.count(); }

  at::Tensor load(const model::InputSpec& input,
                  std::span<const std::int64_t> samples) const override {
    const at::Tensor index =
        at::from_blob(const_cast<std::int64_t*>(samples.data()),  // index_select only reads it
                      {static_cast<std::int64_t>(samples.size())}, at::kLong);
    if (input.name == task_.labels.name)
      return pictures_.labels.index_select(0, index).to(input.type);
    at::Tensor pixels = pictures_.pixels.index_select(0, index).to(at::kFloat).div_(255);
    for (std::int64_t c = 0; c < pictures_.channels(); ++c) {
      const auto i = static_cast<std::size_t>(c);
      pixels.select(1, c).sub_(normalisation_.mean[i]).div_(normalisation_.deviation[i]);
    }
    return shaped(pixels, input).to(input.type);
  }

 private:
  // Normalised pixels [N, channels, rows, columns] in the shape that `input` reads.
  static at::Tensor shaped(at::Tensor images, const model::InputSpec& input) {
    if (input.shape.size() == 2) return images.flatten(1);
    const std::int64_t height = input.shape[2];
    const std::int64_t width = input.shape[3];
    if (images.size(2) != height || images.size(3) != width)
      images = at::upsample_bilinear2d(images, {height, width}, /*align_corners=*/false);
    return images.expand({-1, input.shape[1], -1, -1}).contiguous();
  }

  Pictures pictures_;
  Normalisation normalisation_;
  Classification task_;
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
  const auto list = [](const std::vector<double>& numbers) {
    return joined(numbers, [](double number) { return brief_number(number); });
  };
  std::map<std::string, std::string> facts{{"scale", "1/255"},
                                           {"mean", list(normalisation.mean)},
                                           {"standard_deviation", list(normalisation.deviation)},
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

Data picture_data(PictureSets sets, const Normalisation& normalisation,
                  const model::Network& network, const std::filesystem::path& where) {
  const auto task = task_of(network);
  if (!task || !std::holds_alternative<Classification>(*task))
    throw CannotMeet("images with labels are for classifiers; '" + network.name + "' reads " +
                     inputs_text(network) + ": choose other data, or another network");
  const auto& classification = std::get<Classification>(*task);
  for (const Pictures* pictures : {&sets.training, &sets.held_out}) {
    check_values(*pictures, classification.values, where.string());
    check_labels(*pictures, classification.labels, where.string());
  }
  auto facts = facts_of(sets.training, normalisation, classification);
  return {std::make_unique<PictureSet>(std::move(sets.training), normalisation, classification),
          std::make_unique<PictureSet>(std::move(sets.held_out), normalisation, classification),
          std::move(facts)};
}

}  // namespace pipedream::data
