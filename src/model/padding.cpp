#include "model/padding.h"

#include "core/error.h"
#include "model/blocks.h"

namespace pipedream::model {

void ignore_padding(Network& network) {
  const LayerId loss = network.graph.value(network.loss).producer;
  if (!has_cross_entropy(network))
    throw CannotMeet(
        "the data has padding, which only the loss cross-entropy can ignore, and "
        "that of '" +
        network.name + "' is " + network.graph.layer(loss).kind +
        ": choose other data, or another network");
  LabelRules rules = network.label_rules;
  rules.ignores_padding = true;
  set_label_rules(network, rules);
}

}  // namespace pipedream::model
