// Networks of the zoo, small enough for tests. Only *_test.cpp files include this.
#pragma once

#include <map>
#include <string>

#include "model/zoo.h"

namespace pipedream::data {

// The network with small sizes. `sizes` takes precedence over the small sizes below. Sizes that the
// network does not have as options are ignored.
[[nodiscard]] inline model::Network small_network(const model::NetworkEntry& entry,
                                                  std::map<std::string, std::string> sizes = {},
                                                  std::int64_t batch = 4) {
  const std::map<std::string, std::string> small{
      {"image-size", "64"}, {"inputs", "12"},   {"classes", "5"},    {"hidden", "16"},
      {"layers", "2"},      {"heads", "2"},     {"length", "6"},     {"context", "8"},
      {"frames", "5"},      {"features", "20"}, {"embedding", "12"}, {"vocabulary", "31"},
      {"dropout", "0"}};
  sizes.insert(small.begin(), small.end());  // keeps the entries of `sizes`
  std::map<std::string, std::string> given;
  for (const model::OptionSpec& option : entry.options)
    if (sizes.contains(option.name)) given[option.name] = sizes.at(option.name);
  return entry.make(model::Options(entry.options, given), batch);
}

[[nodiscard]] inline model::Network small_network(const std::string& name,
                                                  std::map<std::string, std::string> sizes = {},
                                                  std::int64_t batch = 4) {
  return small_network(model::zoo_entry(name), std::move(sizes), batch);
}

// The input of that name, which a data set is asked to load.
[[nodiscard]] inline const model::InputSpec& input_of(const model::Network& network,
                                                      const std::string& name) {
  for (const model::InputSpec& input : network.inputs)
    if (input.name == name) return input;
  throw std::logic_error("no input " + name);
}

}  // namespace pipedream::data
