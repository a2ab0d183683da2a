#include "model/label_smoothing.h"

#include "core/error.h"
#include "model/blocks.h"

namespace pipedream::model {

void smooth_labels(Network& network, double smoothing) {
  const LayerId loss = network.graph.value(network.loss).producer;
  const std::string& kind = network.graph.layer(loss).kind;
  if (kind != kCrossEntropy)
    throw CannotMeet("`label_smoothing` is for the loss cross-entropy, and that of '" +
                     network.name + "' is " + kind + ": leave it out");
  LayerSpec& spec = network.specs.at(loss.index());
  LayerSpec smoothed = spec_of(cross_entropy(smoothing));
  smoothed.outputs = spec.outputs;
  spec = std::move(smoothed);
}

}  // namespace pipedream::model
