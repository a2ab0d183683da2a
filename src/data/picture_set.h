// Data sets of small pictures with labels, kept in memory as bytes (data/idx.h, data/cifar.h).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "data/augment.h"
#include "data/data_set.h"
#include "data/task.h"

namespace pipedream::data {

// Pictures and labels as the files have them. Pictures are resized when they are loaded, which
// costs little; resizing all of them in advance could take a hundred times the memory.
struct Pictures {
  at::Tensor pixels;  // [samples, channels, rows, columns], bytes
  at::Tensor labels;  // [samples], bytes

  [[nodiscard]] std::int64_t count() const { return labels.size(0); }
  [[nodiscard]] std::int64_t channels() const { return pixels.size(1); }
  [[nodiscard]] std::int64_t rows() const { return pixels.size(2); }
  [[nodiscard]] std::int64_t columns() const { return pixels.size(3); }
  [[nodiscard]] Pictures part(std::int64_t first, std::int64_t samples) const {
    return {pixels.narrow(0, first, samples), labels.narrow(0, first, samples)};
  }
};

// Mean and standard deviation of each channel's pixels, scaled to [0, 1].
struct Normalisation {
  std::vector<double> mean;
  std::vector<double> deviation;
};

struct PictureSets {
  Pictures training;
  Pictures held_out;
};

// Divides pictures into those to train on and, at their end, those to hold out, and says so in the
// log. `where` names their folder.
[[nodiscard]] PictureSets divided(const Pictures& pictures, const std::filesystem::path& where,
                                  double held_out_share);

// Makes data sets of the pictures. If the network reads images, pictures are resized to its height
// and width; those of one channel are repeated over the network's channels (1 or 3). If it reads
// features, a picture becomes one row, and the network must have one feature per pixel and channel.
// `augmenter` changes the training pictures, in their own pixels and before they are normalised and
// resized. Throws CannotMeet if the network is no classifier, if pictures or labels do not fit it,
// or if the augmenter's padding is as large as a picture.
[[nodiscard]] Data picture_data(PictureSets sets, const Normalisation& normalisation,
                                const model::Network& network, const std::filesystem::path& where,
                                const Augmenter& augmenter);

// Throws CannotMeet if the padding is not less than both sides of pictures that have `rows` x
// `columns` pixels: a part could be all black.
void check_padding(const Augmenter& augmenter, std::int64_t rows, std::int64_t columns);

// The network's task. Throws CannotMeet if it is not to tell classes of samples apart.
[[nodiscard]] Classification want_classifier(const model::Network& network);

// Numbers as they stand in Data::facts: "0.485, 0.456, 0.406".
[[nodiscard]] std::string numbers_text(const std::vector<double>& numbers);

}  // namespace pipedream::data
