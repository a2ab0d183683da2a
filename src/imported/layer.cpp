#include "imported/layer.h"

#include <cstring>

#include <ATen/ATen.h>

#include "core/error.h"
#include "core/text.h"
#include "model/buffer_history.h"
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
    load(blueprint_->copies, copies_);
    load(blueprint_->constants, constants_);
    for (at::Tensor& parameter : parameters_) parameter.set_requires_grad(true);
  }

  model::Tensors forward(const model::Tensors& inputs, const model::Pass& pass) override;
  const model::Tensors& parameters() const override { return parameters_; }
  const model::Tensors& buffers() const override { return buffers_; }
  const model::Tensors& copies() const override { return copies_; }

 private:
  void fill(const model::Tensors& inputs, const model::Tensors& buffers, Slots& slots) const;
  // The buffers that this pass reads and may write into.
  [[nodiscard]] model::Tensors buffers_for(const model::Pass& pass);
  // Gives the buffers the content that the pass has computed.
  void renew(const model::Tensors& written, const Slots& slots);
  [[nodiscard]] std::int64_t samples_in(const model::Tensors& inputs) const;
  void run_steps(std::int64_t samples, Surroundings& surroundings, Slots& slots) const;
  [[noreturn]] void refuse_step(const Step& step, const std::string& why) const;
  // Throws CannotMeet if an output has another shape than in the export.
  void check_outputs(std::int64_t samples, const Slots& slots) const;

  std::shared_ptr<const Blueprint> blueprint_;
  at::Device device_;
  model::Tensors parameters_;
  model::Tensors buffers_;
  model::Tensors copies_;
  model::Tensors constants_;
  model::BufferHistory history_;
};

// The tensor as a message between stages would bring it. Layers that are on one stage get it in the
// same form, so that results do not depend on where a network is cut.
at::Tensor dense(const at::Tensor& tensor) {
  return tensor.is_contiguous(at::MemoryFormat::ChannelsLast) ? tensor : tensor.contiguous();
}

// Whether this pass may change buffers.
bool updates(const model::Pass& pass) { return pass.training && pass.update_statistics; }

model::Tensors ImportedLayer::buffers_for(const model::Pass& pass) {
  model::Tensors state;  // the buffers of kState
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (blueprint_->uses[i] == BufferUse::kState) state.push_back(buffers_[i]);
  if (updates(pass)) history_.note(pass, state);
  // Autograd may keep a buffer of kState for the backward, before which later items change it. So
  // the steps get copies.
  const model::Tensors copies = history_.take(pass, state);
  model::Tensors given;
  std::size_t next = 0;  // index into `copies`
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (blueprint_->uses[i] == BufferUse::kState)
      given.push_back(copies[next++]);
    else if (blueprint_->uses[i] == BufferUse::kChanged && !updates(pass))
      given.push_back(buffers_[i].clone());
    else
      given.push_back(buffers_[i]);
  }
  return given;
}

void ImportedLayer::fill(const model::Tensors& inputs, const model::Tensors& buffers,
                         Slots& slots) const {
  const Blueprint& of = *blueprint_;
  for (std::size_t i = 0; i < of.inputs.size(); ++i) slots[of.inputs[i]] = inputs[i];
  const auto put = [&](const std::vector<Blueprint::FromFile>& list, const model::Tensors& from) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].slot) slots[*list[i].slot] = from[i];
  };
  put(of.parameters, parameters_);
  put(of.buffers, buffers);
  put(of.copies, copies_);
  put(of.constants, constants_);
}

void ImportedLayer::renew(const model::Tensors& written, const Slots& slots) {
  const at::NoGradGuard no_gradient;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (blueprint_->uses[i] == BufferUse::kState) buffers_[i].copy_(written[i]);
  for (const auto& [buffer, slot] : blueprint_->renewed) buffers_[buffer].copy_(slots[slot]);
}

std::int64_t ImportedLayer::samples_in(const model::Tensors& inputs) const {
  if (!blueprint_->samples) return 0;
  const SampleCount& from = *blueprint_->samples;
  return inputs[from.input].size(from.dimension) / from.each;
}

void ImportedLayer::refuse_step(const Step& step, const std::string& why) const {
  throw CannotMeet("an operator of the model failed: layer '" + blueprint_->name +
                   "': " + step.name() + ": " + why +
                   "; check in Python that the model can run on such inputs");
}

void ImportedLayer::run_steps(std::int64_t samples, Surroundings& surroundings,
                              Slots& slots) const {
  for (const Step& step : blueprint_->steps) {
    try {
      step.run(slots, samples, surroundings);
    } catch (const c10::Error& error) {
      if (model::is_out_of_memory(error)) throw;
      refuse_step(step, error.what_without_backtrace());
    } catch (const BadValue& error) {  // a size that these samples cannot have
      refuse_step(step, error.what());
    }
    for (const std::size_t slot : step.last_uses) slots[slot].reset();
  }
}

void ImportedLayer::check_outputs(std::int64_t samples, const Slots& slots) const {
  for (std::size_t o = 0; o < blueprint_->outputs.size(); ++o) {
    const pt2::Tensor& wanted = blueprint_->output_types[o];
    const at::Tensor& found = slots[blueprint_->outputs[o]];
    bool is_alike =
        found.defined() && found.dim() == static_cast<std::int64_t>(wanted.sizes.size());
    model::Shape shape;  // 0 where a layer that does not count its samples cannot tell the size
    for (std::size_t d = 0; d < wanted.sizes.size(); ++d) {
      const pt2::Size& size = wanted.sizes[d];
      const bool is_known = size.is_number() || blueprint_->samples;
      shape.push_back(is_known ? size.value_at(samples).value_or(0) : 0);
      is_alike = is_alike && (!is_known || found.size(static_cast<std::int64_t>(d)) == shape[d]);
    }
    if (!is_alike)
      throw CannotMeet("the model does not keep the shapes of its export: layer '" +
                       blueprint_->name + "' makes '" + printable(wanted.name) + "' of the shape " +
                       (found.defined() ? shape_text(found.sizes()) : "nothing") +
                       "; the export has " + shape_text(shape) + " for " + std::to_string(samples) +
                       " samples; does forward() decide by the number of samples, as squeeze() "
                       "does?");
  }
}

model::Tensors ImportedLayer::forward(const model::Tensors& inputs, const model::Pass& pass) {
  Slots slots(blueprint_->slots);
  const model::Tensors buffers = buffers_for(pass);
  fill(inputs, buffers, slots);
  const std::int64_t samples = samples_in(inputs);
  Surroundings surroundings{pass, device_};
  run_steps(samples, surroundings, slots);
  check_outputs(samples, slots);
  if (updates(pass)) renew(buffers, slots);
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
