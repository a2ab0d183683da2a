#include "model/network_builder.h"

#include "core/check.h"

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

}  // namespace

Wire NetworkBuilder::input(const std::string& name, Shape shape, at::ScalarType type,
                           std::int64_t bound) {
  const TensorType of{std::move(shape), type};
  return {assembly_.add_input(name, of, bound), of};
}

LayerSpec spec_of(Block block) {
  LayerSpec spec;
  spec.inputs = std::move(block.inputs);
  spec.parameters = std::move(block.parameters);
  spec.buffers = std::move(block.buffers);
  spec.make = [forward = std::move(block.forward), shared = std::move(block.shared)](
                  Tensors parameters, Tensors buffers) {
    return std::make_unique<FunctionLayer>(forward, shared, std::move(parameters),
                                           std::move(buffers));
  };
  return spec;
}

Wire NetworkBuilder::add(const std::string& name, Block block, const std::vector<Wire>& inputs) {
  return add(name, name, std::move(block), inputs);
}

Wire NetworkBuilder::add(const std::string& name, const std::string& prefix, Block block,
                         const std::vector<Wire>& inputs) {
  std::vector<TensorType> types;
  for (const Wire& wire : inputs) types.push_back(wire.type);
  const TensorType output = block.infer(types);

  std::vector<OutputSpec> outputs{{block.output, output}};
  for (const std::size_t position : block.shared) {
    const TensorSpec& parameter = block.parameters.at(position);
    outputs.push_back({parameter.name, {parameter.shape, parameter.type}, /*is_weight=*/true});
  }
  std::vector<OutputPlace> places;
  for (const Wire& wire : inputs) places.push_back({wire.layer, wire.output});
  const std::string kind = std::move(block.kind);
  const LayerId layer =
      assembly_.add_layer(name, kind, prefix, outputs, places, spec_of(std::move(block)));
  if (outputs.size() > 1) shared_.emplace(layer, Wire{layer, outputs[1].type, 1});
  return {layer, output};
}

Wire NetworkBuilder::weight(const Wire& of) const {
  const auto found = shared_.find(of.layer);
  PD_CHECK(found != shared_.end());  // Block::shared must not be empty
  return found->second;
}

Network NetworkBuilder::build(const Wire& loss) && {
  return std::move(assembly_).build({loss.layer, loss.output});
}

}  // namespace pipedream::model
