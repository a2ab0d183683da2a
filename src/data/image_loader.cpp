#include "data/image_loader.h"

#include <algorithm>
#include <cmath>

#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/from_blob.h>

#include "core/file.h"
#include "image/decode.h"

namespace pipedream::data {
namespace {

constexpr std::int64_t kImageChannels = 3;
// A very long and thin picture, resized until its short side covers the network's, would fill the
// memory. So only the middle of a picture is resized, at most this many times as long as it is
// wide.
constexpr std::int64_t kLongest = 16;

// The picture's bytes as a tensor [1, 3, rows, columns], which refers to them.
at::Tensor tensor_of(const image::Picture& picture) {
  const std::int64_t row = picture.columns * kImageChannels;
  return at::from_blob(const_cast<std::uint8_t*>(picture.pixels.data()),  // it is only read
                       {1, kImageChannels, picture.rows, picture.columns},
                       {picture.rows * row, 1, row, kImageChannels}, at::kByte);
}

// `bytes` [1, 3, …] with these sides.
at::Tensor resized(const at::Tensor& bytes, std::int64_t rows, std::int64_t columns) {
  if (bytes.size(2) == rows && bytes.size(3) == columns) return bytes;
  return at::_upsample_bilinear2d_aa(bytes.contiguous(at::MemoryFormat::ChannelsLast),
                                     {rows, columns}, /*align_corners=*/false);
}

// The bytes [1, 3, …] without the ends of a side that is too long.
at::Tensor shortened(at::Tensor bytes) {
  const std::int64_t most = kLongest * std::min(bytes.size(2), bytes.size(3));
  for (const int side : {2, 3})
    if (bytes.size(side) > most) bytes = bytes.narrow(side, (bytes.size(side) - most) / 2, most);
  return bytes;
}

void write_window(const at::Tensor& bytes, const Window& window, std::uint8_t* out) {
  write_changed({.first = bytes.const_data_ptr<std::uint8_t>(),
                 .channels = bytes.size(1),
                 .rows = bytes.size(2),
                 .columns = bytes.size(3),
                 .channel_step = bytes.stride(1),
                 .row_step = bytes.stride(2),
                 .column_step = bytes.stride(3)},
                {.window = window}, out);
}

}  // namespace

PixelValues pixel_values(const Normalisation& normalisation) {
  PixelValues values{};
  for (std::size_t c = 0; c < values.size(); ++c)
    for (std::size_t byte = 0; byte < values[c].size(); ++byte)
      values[c][byte] = static_cast<float>(
          (static_cast<double>(byte) / 255 - normalisation.mean[c]) / normalisation.deviation[c]);
  return values;
}

image::Picture read_picture(const std::filesystem::path& path) {
  return image::decode(read_file(path), path.string());
}

void write_middle(const image::Picture& picture, std::int64_t rows, std::int64_t columns,
                  std::uint8_t* out) {
  const at::Tensor bytes = shortened(tensor_of(picture));
  const auto as_real = [](std::int64_t side) { return static_cast<double>(side); };
  const double scale =
      std::max(as_real(rows) / as_real(bytes.size(2)), as_real(columns) / as_real(bytes.size(3)));
  // The longer side is rounded down, as torchvision's Resize does. The small number makes up for
  // the rounding of `scale`.
  const auto covering = [&](std::int64_t side, std::int64_t least) {
    return std::max(least, static_cast<std::int64_t>(as_real(side) * scale + 1e-6));
  };
  const at::Tensor all =
      resized(bytes, covering(bytes.size(2), rows), covering(bytes.size(3), columns));
  // Half a pixel is rounded to the even one, as torchvision's CenterCrop does.
  const auto before = [&](std::int64_t all_of_it, std::int64_t part) {
    return std::llrint(as_real(all_of_it - part) / 2);
  };
  write_window(all, {before(all.size(2), rows), before(all.size(3), columns), rows, columns}, out);
}

void write_resized(const image::Picture& picture, const Window& window, std::int64_t rows,
                   std::int64_t columns, std::uint8_t* out) {
  const at::Tensor part =
      tensor_of(picture).narrow(2, window.top, window.rows).narrow(3, window.left, window.columns);
  write_window(resized(part, rows, columns), {.rows = rows, .columns = columns}, out);
}

}  // namespace pipedream::data
