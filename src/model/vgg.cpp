// VGG-16 (Simonyan & Zisserman 2015), layer by layer as torchvision has it.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/blocks.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

constexpr int kPool = 0;
constexpr std::array kLayers{64,    64,  kPool, 128, 128,   kPool, 256, 256, 256,
                             kPool, 512, 512,   512, kPool, 512,   512, 512, kPool};

Wire add_vgg_features(NetworkBuilder& net, Wire x) {
  std::int64_t channels = 3;
  int index = 0;
  const auto name = [&] { return "features." + std::to_string(index++); };
  for (const int width : kLayers) {
    if (width == kPool) {
      x = net.add(name(), max_pool2d(2, 2), {x});
      continue;
    }
    x = net.add(name(),
                conv2d({.in = channels, .out = width, .kernel = 3, .padding = 1, .he_init = true}),
                {x});
    x = net.add(name(), relu(), {x});
    channels = width;
  }
  return x;
}

// Adds the classifier: linear layers of widths hidden, hidden and classes. `side` is the side of
// the image after the features and the pooling.
Wire add_classifier(NetworkBuilder& net, Wire x, const Options& options, std::int64_t side) {
  const std::int64_t hidden = options.whole("hidden");
  // Torchvision's standard deviation of 0.01 at the published input widths. Narrower inputs get a
  // larger one, so that outputs have the same variance.
  const auto weight = [](std::int64_t published, std::int64_t width) {
    return Init{Init::Kind::kNormal,
                0.01F * std::sqrt(static_cast<float>(published) / static_cast<float>(width))};
  };
  const auto name = [](int index) { return "classifier." + std::to_string(index); };
  std::int64_t width = 512 * side * side;
  for (const int index : {0, 3}) {
    const std::int64_t published = index == 0 ? 512 * 7 * 7 : 4096;
    x = net.add(name(index), linear(width, hidden, weight(published, width), {}), {x});
    x = net.add(name(index + 1), relu(), {x});
    x = net.add(name(index + 2), dropout_block(options.real("dropout")), {x});
    width = hidden;
  }
  return net.add(name(6), linear(hidden, options.whole("classes"), weight(4096, hidden), {}), {x});
}

Network make_vgg(const Options& options, std::int64_t batch) {
  const std::int64_t image = options.whole("image-size");
  // 7 × 7, as published, for images of 224 pixels and more. Smaller images keep the side that the
  // five poolings leave, so that the classifier shrinks with the image instead of working on copies
  // of one pixel.
  const std::int64_t side = std::min<std::int64_t>(7, image / 32);
  NetworkBuilder net("vgg16", batch);
  Wire x = net.input("image", {batch, 3, image, image}, at::kFloat);
  x = add_vgg_features(net, x);
  x = net.add("avgpool", average_pool2d_to(side), {x});
  x = net.add("flatten", flatten(), {x});
  x = add_classifier(net, x, options, side);
  const Wire labels = net.input("labels", {batch}, at::kLong, options.whole("classes"));
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

}  // namespace

NetworkEntry vgg16_entry() {
  return {.name = "vgg16",
          .about = "VGG-16 image classifier",
          .options = {whole_option("image-size", 224, 32, 4096, "side of the square images"),
                      whole_option("classes", 1000, 2, 1 << 20, "classes to tell apart"),
                      whole_option("hidden", 4096, 1, 1 << 20, "width of the classifier"),
                      dropout_option(0.5)},
          .batch = 64,
          .make = make_vgg};
}

}  // namespace pipedream::model
