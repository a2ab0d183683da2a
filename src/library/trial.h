// The layers of a Builder, each run on a few samples when it is added, so that what is wrong with
// it is told then, and what it returns is known.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <pipedream/pipedream.h>

#include "model/network.h"

namespace pipedream::library {

// A layer must do with any number of samples. With one, batch norm could not be trained.
constexpr std::array<std::int64_t, 2> kTrials{2, 3};

// A value that a layer reads: an output of another, or one of its parameters.
struct Source {
  std::size_t node = 0;
  bool is_weight = false;
  std::size_t number = 0;
  friend auto operator<=>(const Source&, const Source&) = default;
};

// An input of the network, or a layer.
struct Node {
  std::string name;
  std::string kind;
  bool is_input = false;
  model::InputSpec input;  // shape of one sample
  detail::Recipe recipe;
  std::vector<Source> sources;                  // one per argument
  std::array<Tensors, kTrials.size()> results;  // of each trial
  std::vector<model::TensorSpec> parameters;    // named as in the module
  std::vector<model::TensorSpec> buffers;
  bool draws = false;
  std::set<std::size_t> used;    // outputs that others read
  std::set<std::size_t> shared;  // parameters that others read
};

[[noreturn]] void refuse(const std::string& layer, const std::string& why);

// The type of one sample of a result that has its samples along dimension 0.
[[nodiscard]] std::optional<model::TensorType> type_of(const Node& node, std::size_t result);
// Whether a result is a number, as a loss must be.
[[nodiscard]] bool is_number(const Node& node, std::size_t result);
// A source, and what it is like, for messages.
[[nodiscard]] std::string text_of(const std::vector<Node>& nodes, const Source& source);

// Samples for an input.
void try_input(Node& node);
// Runs a layer that reads values of the nodes before it. Throws BadUsage, naming it, for one that
// cannot be run on them, or does what no layer may.
void try_layer(const std::vector<Node>& nodes, Node& node);

}  // namespace pipedream::library
