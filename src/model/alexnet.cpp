// AlexNet (Krizhevsky 2014, one tower), layer by layer as torchvision has it.
#include <algorithm>

#include "model/blocks.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

struct Feature {
  Conv conv;
  bool pool;  // whether max pooling follows the ReLU
};
const Feature kFeatures[] = {{{.in = 3, .out = 64, .kernel = 11, .stride = 4, .padding = 2}, true},
                             {{.in = 64, .out = 192, .kernel = 5, .padding = 2}, true},
                             {{.in = 192, .out = 384, .kernel = 3, .padding = 1}, false},
                             {{.in = 384, .out = 256, .kernel = 3, .padding = 1}, false},
                             {{.in = 256, .out = 256, .kernel = 3, .padding = 1}, true}};

Wire add_alexnet_features(NetworkBuilder& net, Wire x) {
  int index = 0;
  const auto name = [&] { return "features." + std::to_string(index++); };
  for (const Feature& feature : kFeatures) {
    x = net.add(name(), conv2d(feature.conv), {x});
    x = net.add(name(), relu(), {x});
    if (feature.pool) x = net.add(name(), max_pool2d(3, 2), {x});
  }
  return x;
}

Network make_alexnet(const Options& options, std::int64_t batch) {
  const std::int64_t image = options.whole("image-size");
  const std::int64_t hidden = options.whole("hidden");
  const double p = options.real("dropout");
  NetworkBuilder net("alexnet", batch);
  Wire x = net.input("image", {batch, 3, image, image}, at::kFloat);
  x = add_alexnet_features(net, x);
  // 6 × 6, as published, for images of 224 pixels and more. Smaller images keep the side that the
  // features leave, so that the classifier shrinks with the image.
  const std::int64_t side = std::min<std::int64_t>(6, x.type.shape[2]);
  x = net.add("avgpool", average_pool2d_to(side), {x});
  x = net.add("flatten", flatten(), {x});
  x = net.add("classifier.0", dropout_block(p), {x});
  x = net.add("classifier.1", linear(256 * side * side, hidden), {x});
  x = net.add("classifier.2", relu(), {x});
  x = net.add("classifier.3", dropout_block(p), {x});
  x = net.add("classifier.4", linear(hidden, hidden), {x});
  x = net.add("classifier.5", relu(), {x});
  x = net.add("classifier.6", linear(hidden, options.whole("classes")), {x});
  const Wire labels = net.input("labels", {batch}, at::kLong, options.whole("classes"));
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

}  // namespace

NetworkEntry alexnet_entry() {
  return {.name = "alexnet",
          .about = "AlexNet image classifier",
          .options = {whole_option("image-size", 224, 63, 4096, "side of the square images"),
                      whole_option("classes", 1000, 2, 1 << 20, "classes to tell apart"),
                      whole_option("hidden", 4096, 1, 1 << 20, "width of the classifier"),
                      dropout_option(0.5)},
          .batch = 256,
          .make = make_alexnet};
}

}  // namespace pipedream::model
