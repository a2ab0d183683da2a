#include "model/label_smoothing.h"

#include "core/error.h"
#include "model/blocks.h"

namespace pipedream::model {

void smooth_labels(Network& network, double smoothing) {
  const LayerId loss = network.graph.value(network.loss).producer;
  if (!has_cross_entropy(network))
    throw CannotMeet("`label_smoothing` is for the loss cross-entropy, and that of '" +
                     network.name + "' is " + network.graph.layer(loss).kind + ": leave it out");
  LabelRules rules = network.label_rules;
  rules.smoothing = smoothing;
  set_label_rules(network, rules);
}

}  // namespace pipedream::model
