// The networks that come with the program, by name. `pipedream models` lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/network_entry.h"

namespace pipedream::model {

// All networks, in the order in which `pipedream models` lists them. To add one, write a file with
// a function that returns its entry, declare the function below and call it in zoo.cpp.
[[nodiscard]] const std::vector<NetworkEntry>& zoo();

// The network called `name`. Throws BadUsage if there is none, with the nearest name in the
// message.
[[nodiscard]] const NetworkEntry& zoo_entry(std::string_view name);

[[nodiscard]] NetworkEntry vgg16_entry();
[[nodiscard]] NetworkEntry resnet50_entry();
[[nodiscard]] NetworkEntry alexnet_entry();
[[nodiscard]] NetworkEntry gnmt_entry(std::int64_t lstm_layers);
[[nodiscard]] NetworkEntry awd_lm_entry();
[[nodiscard]] NetworkEntry s2vt_entry();
[[nodiscard]] NetworkEntry gpt_entry();
[[nodiscard]] NetworkEntry mlp_entry();

}  // namespace pipedream::model
