#include "library/data.h"

#include <array>

#include "core/nearest.h"
#include "core/text.h"
#include "library/module_layer.h"

namespace pipedream {
namespace library {
namespace {

// Samples that the user's function loads. load() checks type, shape and bound of every tensor: a
// wrong one would fail later, somewhere in a layer. Throws BadUsage.
class CallersData final : public data::DataSet {
 public:
  explicit CallersData(Samples samples) : samples_(std::move(samples)) {}
  std::int64_t samples() const override { return samples_.count; }
  at::Tensor load(const model::InputSpec& input,
                  std::span<const std::int64_t> samples) const override {
    const at::Tensor loaded =
        samples_.load(input.name, std::vector<std::int64_t>(samples.begin(), samples.end()));
    model::Shape wanted = input.shape;
    wanted[0] = static_cast<std::int64_t>(samples.size());
    if (!loaded.defined() || loaded.sizes() != wanted || loaded.scalar_type() != input.type) {
      model::TensorType of_sample{{wanted.begin() + 1, wanted.end()}, input.type};
      throw BadUsage("the samples of input '" + input.name + "' must be " + type_text(of_sample) +
                     "; for " + std::to_string(samples.size()) + " of them " + type_text(loaded) +
                     " was found");
    }
    at::Tensor values = loaded.detach().cpu();
    check_bound(input, values, samples);
    return values;
  }

 private:
  // Whole numbers such as labels must be below the input's bound: a layer would fail on others, or
  // read what is not its own.
  static void check_bound(const model::InputSpec& input, const at::Tensor& values,
                          std::span<const std::int64_t> samples) {
    if (input.bound == 0 || values.numel() == 0) return;
    const at::Tensor outside = (values < 0).logical_or(values >= input.bound);
    if (!outside.any().item<bool>()) return;
    const std::int64_t first = outside.flatten().nonzero()[0].item<std::int64_t>();
    const std::int64_t per_sample = values.numel() / values.size(0);
    throw BadUsage("input '" + input.name + "' has the value " +
                   std::to_string(values.flatten()[first].item<std::int64_t>()) + " in sample " +
                   std::to_string(samples[static_cast<std::size_t>(first / per_sample)]) +
                   "; wanted whole numbers from 0 to " + std::to_string(input.bound - 1));
  }

  Samples samples_;
};

// The data set of these samples. Loads the first sample of every input, so that load() checks it.
std::unique_ptr<const data::DataSet> checked(const Samples& samples,
                                             const model::Network& network) {
  if (!samples.load) throw BadUsage("there are samples, and no function that loads them");
  auto data = std::make_unique<CallersData>(samples);
  const std::array<std::int64_t, 1> first{0};
  for (const model::InputSpec& input : network.inputs) (void)data->load(input, first);
  return data;
}

}  // namespace

data::Data data_of(const Data& data, const model::Network& network) {
  if (data.training.count < 1) throw BadUsage("there are no samples to train on");
  return {checked(data.training, network),
          data.held_out.count > 0 ? checked(data.held_out, network) : nullptr};
}

}  // namespace library

inline namespace v1 {

Samples in_memory(std::map<std::string, torch::Tensor> inputs) {
  if (inputs.empty()) throw BadUsage("samples in memory: wanted a tensor for each input");
  std::int64_t count = -1;
  for (const auto& [name, tensor] : inputs) {
    if (!tensor.defined() || tensor.dim() == 0)
      throw BadUsage("the samples of input '" + printable(name) + "' are " +
                     library::type_text(tensor) + ": wanted them along dimension 0");
    if (count < 0) count = tensor.size(0);
    if (tensor.size(0) != count)
      throw BadUsage("input '" + printable(name) + "' has " + std::to_string(tensor.size(0)) +
                     " samples, and '" + printable(inputs.begin()->first) + "' has " +
                     std::to_string(count));
  }
  const auto load = [inputs = std::move(inputs)](const std::string& input,
                                                 const std::vector<std::int64_t>& samples) {
    const auto found = inputs.find(input);
    if (found == inputs.end()) {
      std::vector<std::string> names;
      for (const auto& [name, tensor] : inputs) names.push_back(name);
      throw BadUsage("there are no samples for input '" + printable(input) + "'" +
                     suggestion(input, names));
    }
    return found->second.index_select(0, torch::tensor(samples).to(found->second.device()));
  };
  return {count, load};
}

}  // namespace v1
}  // namespace pipedream
