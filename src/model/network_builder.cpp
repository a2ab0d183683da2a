#include "model/network_builder.h"

#include "core/check.h"
#include "core/error.h"

namespace pipedream::model {
namespace {

// A layer made from a block: its function, its tensors, and the parameters that it shares.
class FunctionLayer final : public Layer {
 public:
  FunctionLayer(ForwardFunction function, std::vector<std::size_t> shared, Tensors parameters,
                Tensors buffers)
      : function_(std::move(function)),
        shared_(std::move(shared)),
        parameters_(std::move(parameters)),
        buffers_(std::move(buffers)) {}

  Tensors forward(const Tensors& inputs, const Pass& pass) override {
    Tensors outputs{function_(inputs, Weights{parameters_, buffers_}, pass)};
    for (const std::size_t parameter : shared_) outputs.push_back(parameters_[parameter]);
    return outputs;
  }
  const Tensors& parameters() const override { return parameters_; }
  const Tensors& buffers() const override { return buffers_; }

 private:
  ForwardFunction function_;
  std::vector<std::size_t> shared_;
  Tensors parameters_;
  Tensors buffers_;
};

void add_prefix(std::vector<TensorSpec>& specs, const std::string& prefix) {
  for (TensorSpec& spec : specs) spec.name = prefix + "." + spec.name;
}

}  // namespace

// The size is computed in floating point first, so that an overflow is noticed.
graph::Builder::Output output_of(const std::string& layer, std::string name,
                                 const TensorType& type) {
  constexpr double kLargest = 0x1p53;  // up to here, JSON numbers in a profile file are exact
  double bytes = static_cast<double>(c10::elementSize(type.type));
  for (const std::int64_t side : type.shape) bytes *= static_cast<double>(side);
  if (bytes > kLargest)
    throw BadUsage("the output of layer '" + layer +
                   "' would be larger than 8 PiB: choose a smaller `batch` or smaller sizes");
  return {std::move(name), type.shape, Bytes{static_cast<std::int64_t>(bytes)}};
}

NetworkBuilder::NetworkBuilder(std::string name, std::int64_t batch) {
  network_.name = std::move(name);
  network_.batch = batch;
}

Wire NetworkBuilder::input(const std::string& name, Shape shape, at::ScalarType type,
                           std::int64_t bound) {
  const TensorType of{shape, type};
  const LayerId layer = graph_.add_input(name, {output_of(name, "out", of)});
  network_.specs.emplace_back();
  network_.inputs.push_back({layer, name, std::move(shape), type, bound});
  return {layer, of};
}

Wire NetworkBuilder::add(const std::string& name, Block block, const std::vector<Wire>& inputs) {
  return add(name, name, std::move(block), inputs);
}

Wire NetworkBuilder::add(const std::string& name, const std::string& prefix, Block block,
                         const std::vector<Wire>& inputs) {
  std::vector<TensorType> types;
  for (const Wire& wire : inputs) types.push_back(wire.type);
  const TensorType output = block.infer(types);

  PD_CHECK(block.inputs.size() == inputs.size());
  std::vector<graph::Builder::Output> outputs{output_of(name, block.output, output)};
  std::vector<std::string> names{block.output};
  std::vector<TensorType> shared;
  for (const std::size_t position : block.shared) {
    const TensorSpec& parameter = block.parameters.at(position);
    shared.push_back({parameter.shape, parameter.type});
    outputs.push_back(output_of(name, parameter.name, shared.back()));
    outputs.back().is_weight = true;
    names.push_back(parameter.name);
  }
  const LayerId layer = graph_.add_layer(name, std::move(block.kind), std::move(outputs));
  if (!shared.empty()) shared_.emplace(layer, Wire{layer, std::move(shared.front()), 1});
  for (const Wire& wire : inputs) graph_.add_edge(wire.layer, wire.output, layer);
  add_prefix(block.parameters, prefix);
  add_prefix(block.buffers, prefix);
  network_.specs.push_back({std::move(block.inputs), std::move(names), std::move(block.parameters),
                            std::move(block.buffers),
                            [forward = std::move(block.forward), shared = std::move(block.shared)](
                                Tensors parameters, Tensors buffers) {
                              return std::make_unique<FunctionLayer>(
                                  forward, shared, std::move(parameters), std::move(buffers));
                            }});
  return {layer, output};
}

Wire NetworkBuilder::weight(const Wire& of) const {
  const auto found = shared_.find(of.layer);
  PD_CHECK(found != shared_.end());  // Block::shared must not be empty
  return found->second;
}

Network NetworkBuilder::build(const Wire& loss) && {
  network_.graph = std::move(graph_).build();
  network_.loss = network_.graph.layer(loss.layer).outputs.at(0);
  return std::move(network_);
}

}  // namespace pipedream::model
