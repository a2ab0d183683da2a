// ResNet-50 (He et al. 2016; stride in the 3×3 convolution, "v1.5"), as torchvision has it.
#include <array>

#include "model/blocks.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

constexpr std::int64_t kExpansion = 4;
constexpr std::array kBlocksPerGroup{3, 4, 6, 3};

// Adds a convolution without bias, then batch norm, such as "conv1" and "bn1" of a block.
Wire add_conv_norm(NetworkBuilder& net, const std::string& conv_name, const std::string& norm_name,
                   Conv conv, Wire x) {
  conv.bias = false;
  conv.he_init = true;
  x = net.add(conv_name, conv2d(conv), {x});
  return net.add(norm_name, batch_norm2d(conv.out), {x});
}

// Adds a bottleneck block: convolutions 1×1 to `width` channels, 3×3, and 1×1 to 4·width channels.
// Their result is added to the block's input, which is projected where its shape changes.
Wire add_bottleneck(NetworkBuilder& net, const std::string& name, Wire x, std::int64_t width,
                    std::int64_t stride) {
  const std::int64_t in = x.type.shape[1];
  const std::int64_t out = width * kExpansion;
  const auto conv_norm = [&](int number, Conv conv, Wire from) {
    const std::string n = std::to_string(number);
    return add_conv_norm(net, name + ".conv" + n, name + ".bn" + n, conv, from);
  };
  Wire y = conv_norm(1, {.in = in, .out = width}, x);
  y = net.add(name + ".relu1", relu(), {y});
  y = conv_norm(2, {.in = width, .out = width, .kernel = 3, .stride = stride, .padding = 1}, y);
  y = net.add(name + ".relu2", relu(), {y});
  y = conv_norm(3, {.in = width, .out = out}, y);
  Wire skip = x;
  if (in != out || stride != 1)
    skip = add_conv_norm(net, name + ".downsample.0", name + ".downsample.1",
                         {.in = in, .out = out, .stride = stride}, x);
  y = net.add(name + ".add", add(), {y, skip});
  return net.add(name + ".relu3", relu(), {y});
}

Network make_resnet(const Options& options, std::int64_t batch) {
  const std::int64_t image = options.whole("image-size");
  const std::int64_t classes = options.whole("classes");
  NetworkBuilder net("resnet50", batch);
  Wire x = net.input("image", {batch, 3, image, image}, at::kFloat);
  x = add_conv_norm(net, "conv1", "bn1",
                    {.in = 3, .out = 64, .kernel = 7, .stride = 2, .padding = 3}, x);
  x = net.add("relu", relu(), {x});
  x = net.add("maxpool", max_pool2d(3, 2, 1), {x});
  std::int64_t width = 64;
  for (std::size_t group = 0; group < kBlocksPerGroup.size(); ++group) {
    for (int block = 0; block < kBlocksPerGroup[group]; ++block) {
      const std::string name = "layer" + std::to_string(group + 1) + "." + std::to_string(block);
      x = add_bottleneck(net, name, x, width, group > 0 && block == 0 ? 2 : 1);
    }
    width *= 2;
  }
  x = net.add("avgpool", average_pool2d_to(1), {x});
  x = net.add("flatten", flatten(), {x});
  x = net.add("fc", linear(512 * kExpansion, classes), {x});
  const Wire labels = net.input("labels", {batch}, at::kLong, classes);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

}  // namespace

NetworkEntry resnet50_entry() {
  return {.name = "resnet50",
          .about = "ResNet-50 image classifier",
          .options = {whole_option("image-size", 224, 32, 4096, "side of the square images"),
                      whole_option("classes", 1000, 2, 1 << 20, "classes to tell apart")},
          .batch = 64,
          .make = make_resnet};
}

}  // namespace pipedream::model
