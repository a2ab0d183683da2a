#include "imported/layer.h"

#include <cstring>

#include <ATen/ATen.h>

#include "core/error.h"
#include "model/out_of_memory.h"

namespace pipedream::imported {
namespace {

// Used from the thread of its worker alone.
class ImportedLayer final : public model::Layer {
 public:
  ImportedLayer(std::shared_ptr<const Blueprint> blueprint, at::Device device)
      : blueprint_(std::move(blueprint)), device_(device) {
    const auto load = [&](const std::vector<Blueprint::FromFile>& list, model::Tensors& into) {
      for (const Blueprint::FromFile& each : list)
        into.push_back(load_tensor(*blueprint_->archive, each.input, device));
    };
    load(blueprint_->parameters, parameters_);
    load(blueprint_->buffers, buffers_);
    load(blueprint_->constants, constants_);
    for (at::Tensor& parameter : parameters_) parameter.set_requires_grad(true);
  }

  model::Tensors forward(const model::Tensors& inputs, const model::Pass& pass) override;
  const model::Tensors& parameters() const override { return parameters_; }
  const model::Tensors& buffers() const override { return buffers_; }

 private:
  void fill(const model::Tensors& inputs, const model::Pass& pass, Slots& slots) const;
  [[nodiscard]] std::int64_t samples_in(const model::Tensors& inputs) const;
  void run_steps(std::int64_t samples, Surroundings& surroundings, Slots& slots) const;

  std::shared_ptr<const Blueprint> blueprint_;
  at::Device device_;
  model::Tensors parameters_;
  model::Tensors buffers_;
  model::Tensors constants_;
};

// The tensor as a message between stages would bring it. Layers that are on one stage get it in the
// same form, so that results do not depend on where a network is cut.
at::Tensor dense(const at::Tensor& tensor) {
  return tensor.is_contiguous(at::MemoryFormat::ChannelsLast) ? tensor : tensor.contiguous();
}

// Whether this pass may change buffers.
bool updates(const model::Pass& pass) { return pass.training && pass.update_statistics; }

void ImportedLayer::fill(const model::Tensors& inputs, const model::Pass& pass,
                         Slots& slots) const {
  const Blueprint& of = *blueprint_;
  for (std::size_t i = 0; i < of.inputs.size(); ++i) slots[of.inputs[i]] = inputs[i];
  const auto put = [&](const std::vector<Blueprint::FromFile>& list, std::size_t i,
                       const at::Tensor& tensor) {
    if (list[i].slot) slots[*list[i].slot] = tensor;
  };
  for (std::size_t i = 0; i < parameters_.size(); ++i) put(of.parameters, i, parameters_[i]);
  for (std::size_t i = 0; i < constants_.size(); ++i) put(of.constants, i, constants_[i]);
  // What must not change is given as a copy.
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    put(of.buffers, i, of.is_written[i] && !updates(pass) ? buffers_[i].clone() : buffers_[i]);
}

std::int64_t ImportedLayer::samples_in(const model::Tensors& inputs) const {
  if (!blueprint_->samples) return 0;
  const SampleCount& from = *blueprint_->samples;
  return inputs[from.input].size(from.dimension) / from.each;
}

void ImportedLayer::run_steps(std::int64_t samples, Surroundings& surroundings,
                              Slots& slots) const {
  for (const Step& step : blueprint_->steps) {
    try {
      step.run(slots, samples, surroundings);
    } catch (const c10::Error& error) {
      if (model::is_out_of_memory(error)) throw;
      throw Error("layer '" + blueprint_->name + "': " + step.name() + ": " +
                  error.what_without_backtrace());
    }
    for (const std::size_t slot : step.last_uses) slots[slot].reset();
  }
}

model::Tensors ImportedLayer::forward(const model::Tensors& inputs, const model::Pass& pass) {
  Slots slots(blueprint_->slots);
  fill(inputs, pass, slots);
  Surroundings surroundings{pass, device_};
  run_steps(samples_in(inputs), surroundings, slots);
  if (updates(pass)) {
    const at::NoGradGuard no_gradient;
    for (const auto& [buffer, slot] : blueprint_->renewed) buffers_[buffer].copy_(slots[slot]);
  }
  model::Tensors outputs;
  for (const std::size_t slot : blueprint_->outputs) outputs.push_back(dense(slots[slot]));
  for (const std::size_t parameter : blueprint_->shared) outputs.push_back(parameters_[parameter]);
  return outputs;
}

}  // namespace

at::Tensor load_tensor(const pt2::Archive& archive, const pt2::Input& input, at::Device device) {
  const pt2::StoredTensor& stored = archive.stored(input);
  const std::string_view bytes = archive.bytes_of(input);
  const auto options = at::TensorOptions().dtype(to_torch(stored.type));
  const std::uint64_t needed = pt2::bytes_needed(stored);
  if (needed == 0) return at::empty(stored.sizes, options.device(device));
  const std::uint64_t begin =
      static_cast<std::uint64_t>(stored.offset) * pt2::element_size(stored.type);
  at::Tensor memory = at::empty(
      {static_cast<std::int64_t>((needed - begin) / pt2::element_size(stored.type))}, options);
  std::memcpy(memory.mutable_data_ptr(), bytes.data() + begin, needed - begin);
  return memory.as_strided(stored.sizes, stored.strides).contiguous().to(device);
}

std::unique_ptr<model::Layer> make_imported_layer(std::shared_ptr<const Blueprint> blueprint,
                                                  at::Device device) {
  return std::make_unique<ImportedLayer>(std::move(blueprint), device);
}

}  // namespace pipedream::imported
