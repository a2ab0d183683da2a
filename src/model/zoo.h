// The networks that come with the program, by name. `pipedream models` lists them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/network.h"
#include "model/options.h"

namespace pipedream::model {

// One network with its options. `make` builds it for minibatches of `batch` samples.
struct ZooEntry {
  std::string name;   // "vgg16"
  std::string about;  // one line of description for users
  std::vector<OptionSpec> options;
  std::int64_t batch = 1;  // samples per minibatch if the user does not say
  std::function<Network(const Options& options, std::int64_t batch)> make;
};

// All networks, in the order in which `pipedream models` lists them. To add one, write a file with
// a function that returns its entry, declare the function below and call it in zoo.cpp.
[[nodiscard]] const std::vector<ZooEntry>& zoo();

// The network called `name`. Throws BadUsage if there is none, with the nearest name in the
// message.
[[nodiscard]] const ZooEntry& zoo_entry(std::string_view name);

[[nodiscard]] ZooEntry vgg16_entry();
[[nodiscard]] ZooEntry resnet50_entry();
[[nodiscard]] ZooEntry alexnet_entry();
[[nodiscard]] ZooEntry gnmt_entry(std::int64_t lstm_layers);
[[nodiscard]] ZooEntry awd_lm_entry();
[[nodiscard]] ZooEntry s2vt_entry();
[[nodiscard]] ZooEntry gpt_entry();
[[nodiscard]] ZooEntry mlp_entry();

}  // namespace pipedream::model
