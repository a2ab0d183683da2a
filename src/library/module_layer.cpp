#include "library/module_layer.h"

#include <algorithm>
#include <set>

#include <ATen/autocast_mode.h>

#include "library/seeded.h"
#include "model/buffer_history.h"
#include "model/out_of_memory.h"
#include "runtime/failure.h"

namespace pipedream::library {
namespace {

// Protects buffers (running averages) from changes. While this object lives, the buffers point to
// `others`; its destructor points them back to the originals. Saving the values and copying them
// back would not do: autograd would report that a tensor it had saved was modified in place.
class KeptBuffers {
 public:
  KeptBuffers(const model::Tensors& buffers, const model::Tensors& others) : buffers_(buffers) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      originals_.push_back(buffers_[i].detach());
      buffers_[i].set_data(others[i]);
    }
  }
  ~KeptBuffers() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].set_data(originals_[i]);
  }
  KeptBuffers(const KeptBuffers&) = delete;
  KeptBuffers& operator=(const KeptBuffers&) = delete;

 private:
  const model::Tensors& buffers_;
  model::Tensors originals_;
};

// A user's layer on one worker, used from that worker's thread alone.
class ModuleLayer final : public model::Layer {
 public:
  ModuleLayer(std::shared_ptr<const Blueprint> blueprint, detail::Computation computation)
      : blueprint_(std::move(blueprint)), computation_(std::move(computation)) {
    const ModuleTensors tensors = tensors_of(computation_.module.get());
    for (const auto& [name, tensor] : tensors.parameters) parameters_.push_back(tensor);
    for (const auto& [name, tensor] : tensors.buffers) buffers_.push_back(tensor);
  }

  model::Tensors forward(const model::Tensors& inputs, const model::Pass& pass) override;
  const model::Tensors& parameters() const override { return parameters_; }
  const model::Tensors& buffers() const override { return buffers_; }

 private:
  // Runs the user's forward. Seeds torch's generator if the layer draws random numbers. Keeps the
  // buffers unchanged if this pass must not update statistics.
  [[nodiscard]] Tensors compute(const Tensors& arguments, const model::Pass& pass);
  // Throws Error unless `output`, number `number` of Blueprint::outputs, has the type found in the
  // trial runs, for `samples` samples.
  void check(const at::Tensor& output, std::size_t number, std::int64_t samples) const;
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("layer '" + blueprint_->name + "': " + what);
  }

  std::shared_ptr<const Blueprint> blueprint_;
  detail::Computation computation_;
  model::Tensors parameters_;
  model::Tensors buffers_;
  model::BufferHistory history_;
};

// Whether `tensor` has the type that was found in the trial runs. Under autocast a layer that
// returned Float then may return autocast's lower precision instead.
bool is_of(const at::Tensor& tensor, at::ScalarType type) {
  const at::DeviceType device = tensor.device().type();
  return tensor.scalar_type() == type ||
         (type == at::kFloat && at::autocast::is_autocast_enabled(device) &&
          tensor.scalar_type() == at::autocast::get_autocast_dtype(device));
}

Tensors ModuleLayer::compute(const Tensors& arguments, const model::Pass& pass) {
  std::optional<KeptBuffers> kept;
  if (pass.training && !pass.update_statistics)
    kept.emplace(buffers_, history_.take(pass, buffers_));
  else if (pass.training)
    history_.note(pass, buffers_);
  if (!blueprint_->draws) return computation_.forward(arguments);
  Tensors results;
  const at::Device device = arguments.front().device();
  run_seeded(pass.random, device, [&] { results = computation_.forward(arguments); });
  return results;
}

model::Tensors ModuleLayer::forward(const model::Tensors& inputs, const model::Pass& pass) {
  Tensors arguments;
  for (const std::size_t input : blueprint_->arguments) arguments.push_back(inputs[input]);
  if (computation_.module && computation_.module->is_training() != pass.training)
    computation_.module->train(pass.training);
  Tensors results;
  try {
    results = compute(arguments, pass);
  } catch (const c10::Error& error) {
    if (model::is_out_of_memory(error)) throw;
    fail(error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail(runtime::kNoException);
  }
  if (results.size() != blueprint_->results)
    fail("it returned " + std::to_string(results.size()) + " tensors, and " +
         std::to_string(blueprint_->results) + " when the network was built");
  model::Tensors outputs;
  for (std::size_t i = 0; i < blueprint_->outputs.size(); ++i) {
    outputs.push_back(results[blueprint_->outputs[i]]);
    check(outputs.back(), i, inputs[blueprint_->sampled].size(0));
  }
  for (const std::size_t parameter : blueprint_->shared) outputs.push_back(parameters_[parameter]);
  return outputs;
}

void ModuleLayer::check(const at::Tensor& output, std::size_t number, std::int64_t samples) const {
  const model::TensorType& type = blueprint_->types[number];
  model::Shape wanted = type.shape;
  if (!blueprint_->is_loss[number]) wanted.insert(wanted.begin(), samples);
  if (output.defined() && is_of(output, type.type) && output.sizes() == wanted) return;
  fail("for " + std::to_string(samples) + " samples it returned " + type_text(output) + ", where " +
       (blueprint_->is_loss[number] ? "one number" : type_text(type)) +
       " was found when the network was built");
}

}  // namespace

ModuleTensors tensors_of(const torch::nn::Module* module) {
  ModuleTensors found;
  if (module == nullptr) return found;
  std::set<const c10::TensorImpl*> seen;
  for (const auto& each : module->named_parameters()) {
    if (!each.value().defined() || !seen.insert(each.value().unsafeGetTensorImpl()).second)
      continue;
    auto& list = each.value().requires_grad() ? found.parameters : found.buffers;
    list.emplace_back(each.key(), each.value());
  }
  for (const auto& each : module->named_buffers())
    if (each.value().defined() && seen.insert(each.value().unsafeGetTensorImpl()).second)
      found.buffers.emplace_back(each.key(), each.value());
  return found;
}

std::unique_ptr<model::Layer> make_module_layer(std::shared_ptr<const Blueprint> blueprint,
                                                const RandomKey& key, at::Device device) {
  detail::Computation computation;
  run_seeded(key, at::kCPU, [&] { computation = blueprint->recipe(); });
  if (computation.module) {
    if (!device.is_cpu()) computation.module->to(device);
    computation.module->train();  // with all submodules, as forward() sets them after an evaluation
  }
  return std::make_unique<ModuleLayer>(std::move(blueprint), std::move(computation));
}

void use(std::shared_ptr<const Blueprint> blueprint, model::LayerSpec& spec) {
  spec.make_whole = [blueprint = std::move(blueprint)](const RandomKey& key, at::Device device) {
    return make_module_layer(blueprint, key, device);
  };
}

std::string type_text(const model::TensorType& of_sample) {
  std::string text = std::string(c10::toString(of_sample.type)) + " [N";
  for (const std::int64_t side : of_sample.shape) text += ", " + std::to_string(side);
  return text + "]";
}

std::string type_text(const at::Tensor& tensor) {
  if (!tensor.defined()) return "nothing";
  std::string text = std::string(c10::toString(tensor.scalar_type())) + " [";
  for (std::size_t i = 0; i < tensor.sizes().size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(tensor.sizes()[i]);
  return text + "]";
}

}  // namespace pipedream::library
