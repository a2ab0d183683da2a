// The networks that come with the program, by name.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/network.h"
#include "model/options.h"

namespace pipedream::model {

struct ZooEntry {
  std::string name;   // "vgg16"
  std::string about;  // one line for people
  std::vector<OptionSpec> options;
  std::int64_t batch = 1;  // a usual minibatch
  std::function<Network(const Options& options, std::int64_t batch)> make;
};

// All of them, in the order of `pipedream models`. One function per file of networks makes its
// entries; to add a network, write such a file and name it in zoo.cpp.
[[nodiscard]] const std::vector<ZooEntry>& zoo();

// The entry of that name; throws BadUsage with the nearest name.
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
