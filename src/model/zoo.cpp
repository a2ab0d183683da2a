#include "model/zoo.h"

#include "core/error.h"
#include "core/nearest.h"

namespace pipedream::model {

namespace {

// Returns `entry` with a `make` that also sets Network::options.
NetworkEntry with_options(NetworkEntry entry) {
  entry.make = [make = std::move(entry.make)](const Options& options, std::int64_t batch) {
    Network network = make(options, batch);
    network.options = options.texts();
    return network;
  };
  return entry;
}

std::vector<NetworkEntry> all_entries() {
  std::vector<NetworkEntry> entries{vgg16_entry(), resnet50_entry(), alexnet_entry(),
                                    gnmt_entry(8), gnmt_entry(16),   awd_lm_entry(),
                                    s2vt_entry(),  gpt_entry(),      mlp_entry()};
  for (NetworkEntry& entry : entries) entry = with_options(std::move(entry));
  return entries;
}

}  // namespace

const std::vector<NetworkEntry>& zoo() {
  static const std::vector<NetworkEntry> entries = all_entries();
  return entries;
}

const NetworkEntry& zoo_entry(std::string_view name) {
  std::vector<std::string> names;
  for (const NetworkEntry& entry : zoo()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw BadUsage("there is no model '" + std::string(name) + "'" + suggestion(name, names));
}

}  // namespace pipedream::model
