#include "model/network_builder.h"

#include "core/check.h"
#include "core/error.h"
#include "model/ties.h"

namespace pipedream::model {
namespace {

class FunctionLayer final : public Layer {
 public:
  FunctionLayer(ForwardFunction function, Tensors parameters, Tensors buffers)
      : function_(std::move(function)),
        parameters_(std::move(parameters)),
        buffers_(std::move(buffers)) {}

  Tensors forward(const Tensors& inputs, const Pass& pass) override {
    return {function_(inputs, Weights{parameters_, buffers_}, pass)};
  }
  const Tensors& parameters() const override { return parameters_; }
  const Tensors& buffers() const override { return buffers_; }

 private:
  ForwardFunction function_;
  Tensors parameters_;
  Tensors buffers_;
};

// Computed in floating point first, so that no product of sizes overflows unseen.
graph::Builder::Output output_of(const std::string& layer, std::string name,
                                 const TensorType& type) {
  constexpr double kLargest = 0x1p53;  // what a profile file can say exactly
  double bytes = static_cast<double>(c10::elementSize(type.type));
  for (const std::int64_t side : type.shape) bytes *= static_cast<double>(side);
  if (bytes > kLargest)
    throw BadUsage("the output of layer '" + layer +
                   "' would be larger than 8 PiB: choose a smaller --batch or smaller sizes");
  return {std::move(name), type.shape, Bytes{static_cast<std::int64_t>(bytes)}};
}

void add_prefix(std::vector<TensorSpec>& specs, const std::string& prefix) {
  for (TensorSpec& spec : specs) spec.name = prefix + "." + spec.name;
}

void check_tie(const std::vector<LayerSpec>& earlier, const TensorSpec& tied) {
  if (tied.tied_to.empty()) return;
  const std::string both = "parameter '" + tied.name + "' is tied to '" + tied.tied_to + "', ";
  const std::optional<Use> found = find_parameter(earlier, tied.tied_to);
  if (!found) throw BadValue(both + "which no earlier layer has");
  const TensorSpec& owner = parameter_spec(earlier, *found);
  if (!owner.tied_to.empty())
    throw BadValue(both + "which is itself tied: name '" + owner.tied_to + "' instead");
  if (owner.shape != tied.shape || owner.type != tied.type)
    throw BadValue(both + "which has another shape or type");
}

}  // namespace

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
  const LayerId layer =
      graph_.add_layer(name, std::move(block.kind), {output_of(name, block.output, output)});
  for (const Wire& wire : inputs) graph_.add_edge(wire.layer, 0, layer);
  add_prefix(block.parameters, prefix);
  add_prefix(block.buffers, prefix);
  for (const TensorSpec& parameter : block.parameters) check_tie(network_.specs, parameter);
  network_.specs.push_back(
      {std::move(block.inputs),
       {block.output},
       std::move(block.parameters),
       std::move(block.buffers),
       [forward = std::move(block.forward)](Tensors parameters, Tensors buffers) {
         return std::make_unique<FunctionLayer>(forward, std::move(parameters), std::move(buffers));
       }});
  return {layer, output};
}

Network NetworkBuilder::build(const Wire& loss) && {
  network_.graph = std::move(graph_).build();
  network_.loss = network_.graph.layer(loss.layer).outputs.at(0);
  return std::move(network_);
}

}  // namespace pipedream::model
