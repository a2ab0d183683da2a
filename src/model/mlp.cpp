// A multi-layer perceptron: the smallest network that pipelines.
#include "model/blocks.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

Network make_mlp(const Options& options, std::int64_t batch) {
  const std::int64_t classes = options.whole("classes");
  const std::int64_t layers = options.whole("layers");
  NetworkBuilder net("mlp", batch);
  std::int64_t width = options.whole("inputs");
  Wire x = net.input("features", {batch, width}, at::kFloat);
  for (std::int64_t i = 1; i < layers; ++i) {
    const std::string number = std::to_string(i);
    x = net.add("fc" + number, linear(width, options.whole("hidden")), {x});
    x = net.add("relu" + number, relu(), {x});
    width = options.whole("hidden");
  }
  x = net.add("fc" + std::to_string(layers), linear(width, classes), {x});
  const Wire labels = net.input("labels", {batch}, at::kLong, classes);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

}  // namespace

NetworkEntry mlp_entry() {
  return {.name = "mlp",
          .about = "multi-layer perceptron",
          .options = {whole_option("inputs", 784, 1, 1 << 20, "numbers per sample"),
                      whole_option("hidden", 512, 1, 1 << 20, "width of the hidden layers"),
                      whole_option("layers", 4, 1, 1000, "linear layers"),
                      whole_option("classes", 10, 2, 1 << 20, "classes to tell apart")},
          .batch = 64,
          .make = make_mlp};
}

}  // namespace pipedream::model
