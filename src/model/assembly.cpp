#include "model/assembly.h"

#include "core/check.h"
#include "core/error.h"

namespace pipedream::model {
namespace {

// Describes an output of the layer called `layer` for the graph. The size is computed in floating
// point first, so that an overflow is noticed.
graph::Builder::Output in_graph(const std::string& layer, const OutputSpec& output) {
  constexpr double kLargest = 0x1p53;  // up to here, JSON numbers in a profile file are exact
  double bytes = static_cast<double>(c10::elementSize(output.type.type));
  for (const std::int64_t side : output.type.shape) bytes *= static_cast<double>(side);
  if (bytes > kLargest)
    throw BadUsage("the output of layer '" + layer +
                   "' would be larger than 8 PiB: choose a smaller `batch` or smaller sizes");
  graph::Builder::Output made{output.name, output.type.shape,
                              Bytes{static_cast<std::int64_t>(bytes)}};
  made.is_weight = output.is_weight;
  return made;
}

void add_prefix(std::vector<TensorSpec>& specs, const std::string& prefix) {
  if (prefix.empty()) return;
  for (TensorSpec& spec : specs) spec.name = prefix + "." + spec.name;
}

}  // namespace

Assembly::Assembly(std::string name, std::int64_t batch) {
  network_.name = std::move(name);
  network_.batch = batch;
}

LayerId Assembly::add_input(const std::string& name, const TensorType& type, std::int64_t bound) {
  const LayerId layer = graph_.add_input(name, {in_graph(name, {"out", type})});
  network_.specs.emplace_back();
  network_.inputs.push_back({layer, name, type.shape, type.type, bound});
  return layer;
}

LayerId Assembly::add_layer(const std::string& name, std::string kind, const std::string& prefix,
                            const std::vector<OutputSpec>& outputs,
                            const std::vector<OutputPlace>& inputs, LayerSpec spec) {
  PD_CHECK(spec.inputs.size() == inputs.size());
  std::vector<graph::Builder::Output> made;
  for (const OutputSpec& output : outputs) {
    made.push_back(in_graph(name, output));
    spec.outputs.push_back(output.name);
  }
  const LayerId layer = graph_.add_layer(name, std::move(kind), std::move(made));
  for (const OutputPlace& input : inputs) graph_.add_edge(input.layer, input.output, layer);
  add_prefix(spec.parameters, prefix);
  add_prefix(spec.buffers, prefix);
  network_.specs.push_back(std::move(spec));
  return layer;
}

Network Assembly::build(const OutputPlace& loss) && {
  network_.graph = std::move(graph_).build();
  network_.loss = network_.graph.layer(loss.layer).outputs.at(loss.output);
  return std::move(network_);
}

}  // namespace pipedream::model
