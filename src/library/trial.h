// Trial runs: a Builder runs each layer on a few samples when the layer is added. This finds out
// what the layer returns, and reports errors at once (docs/library.md, what a layer must do).
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <pipedream/pipedream.h>

#include "model/assembly.h"
#include "model/network.h"

namespace pipedream::library {

// The number of samples in each trial run. There are two runs, because a layer must work with any
// number of samples. Neither has one sample: batch norm cannot be trained on a single sample.
constexpr std::array<std::int64_t, 2> kTrials{2, 3};

// A value that a layer reads: a result of another node, or a parameter of another node's module.
struct Source {
  std::size_t node = 0;    // index of the other node in the Builder
  bool is_weight = false;  // whether the value is a parameter
  std::size_t number = 0;  // index into the node's `parameters` if `is_weight`, else its results
  friend auto operator<=>(const Source&, const Source&) = default;
};

// An input or a layer of the network that is being built. Owned by the Builder.
struct Node {
  std::string name;
  std::string kind;  // for people: "Linear(in_features=16, …)" or "function"
  bool is_input = false;
  model::InputSpec input;                       // only for inputs; the shape is that of one sample
  detail::Recipe recipe;                        // only for layers
  std::vector<Source> sources;                  // only for layers: one per argument of forward
  std::array<Tensors, kTrials.size()> results;  // for each trial, what the node returned
  std::vector<model::TensorSpec> parameters;    // named as in the module
  std::vector<model::TensorSpec> buffers;       // named as in the module
  bool draws = false;                           // whether it drew random numbers in a trial
  std::set<std::size_t> used;                   // indices of results that other layers read
  std::set<std::size_t> shared;                 // indices of parameters that other layers read
};

// Throws BadUsage with the layer's name before the message.
[[noreturn]] void refuse(const std::string& layer, const std::string& why);

// The type of result number `result` for one sample. Returns nullopt if the result does not have
// its samples along dimension 0, or if its type depends on the number of samples.
[[nodiscard]] std::optional<model::TensorType> type_of(const Node& node, std::size_t result);
// Whether result number `result` is a Float scalar in all trials, as a loss must be.
[[nodiscard]] bool is_number(const Node& node, std::size_t result);
// Names a source and its type, for messages: "'fc' Float [N, 4]", "weight of 'fc'".
[[nodiscard]] std::string text_of(const std::vector<Node>& nodes, const Source& source);

// Fills `node.results` of an input with random samples. Throws what libtorch throws, such as for a
// shape that is too large.
void try_input(Node& node);
// Makes the layer `node` and runs it once per trial on the results of `nodes`, which are the nodes
// added before. Fills in `kind`, `parameters`, `buffers`, `results` and `draws`. Throws BadUsage,
// naming the layer, if it cannot run on its inputs or is seen to break a rule of docs/library.md.
void try_layer(const std::vector<Node>& nodes, Node& node);

}  // namespace pipedream::library
