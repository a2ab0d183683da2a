// A network that a user can ask for by name: one of the zoo, or an imported one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/network.h"
#include "model/options.h"

namespace pipedream::model {

// One network with its options. `make` builds it for minibatches of `batch` samples, and sets
// Network::options.
struct NetworkEntry {
  std::string name;   // "vgg16"
  std::string about;  // one line of description for users
  std::vector<OptionSpec> options;
  std::int64_t batch = 1;  // samples per minibatch if the user does not say
  std::function<Network(const Options& options, std::int64_t batch)> make;
  // An imported network's file, which configurations have as `model`. Empty for the zoo's networks.
  std::string file{};
  std::vector<std::string> notes{};  // what a user should know before training, a line each
};

}  // namespace pipedream::model
