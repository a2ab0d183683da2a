#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"
#include "imported/entry.h"
#include "library/handles.h"
#include "library/module_layer.h"
#include "model/weights_file.h"
#include "model/whole_model.h"
#include "train/together.h"

namespace pipedream {
inline namespace v1 {
namespace {

using MakeLayer = decltype(model::LayerSpec::make_whole);

// Where a tensor of the network is: the index of its layer, and its shape.
struct Place {
  std::size_t layer = 0;
  model::Shape shape;
};

std::map<std::string, Place> places_of(const model::Network& network) {
  std::map<std::string, Place> places;
  for (std::size_t i = 0; i < network.specs.size(); ++i)
    for (const auto* list : {&network.specs[i].parameters, &network.specs[i].buffers})
      for (const model::TensorSpec& spec : *list) places[spec.name] = {i, spec.shape};
  return places;
}

// Makes layers of `spec` begin with the tensors in `start`, by name, where it has them. `made` is
// how they are made without it.
void begin_with(const Weights& start, const MakeLayer& made, model::LayerSpec& spec) {
  PD_CHECK(made);
  spec.make_whole = [made, parameters = spec.parameters, buffers = spec.buffers, start](
                        const RandomKey& key, at::Device device) {
    std::unique_ptr<model::Layer> layer = made(key, device);
    const at::NoGradGuard no_grad;
    const auto set = [&](const auto& specs, const model::Tensors& tensors) {
      for (std::size_t i = 0; i < specs.size(); ++i)
        if (const auto given = start.find(specs[i].name); given != start.end())
          at::Tensor(tensors[i]).copy_(given->second);
    };
    set(parameters, layer->parameters());
    set(buffers, layer->buffers());
    return layer;
  };
}

torch::Tensor copy_of(const torch::Tensor& tensor) {
  return train::run_together(nullptr, [&] { return tensor.detach().cpu().clone(); });
}

}  // namespace

Network Network::load(const std::filesystem::path& file, std::int64_t batch,
                      const std::string& loss) {
  library::check_batch(file.stem().string(), batch);
  const model::NetworkEntry entry = imported::entry_of(file);
  std::map<std::string, std::string> options;
  if (!loss.empty()) options["loss"] = loss;
  return Network(
      std::make_shared<Impl>(Impl{entry.make(model::Options(entry.options, options), batch)}));
}

const std::string& Network::name() const { return impl_->network.name; }
std::int64_t Network::batch() const { return impl_->network.batch; }
std::int64_t Network::parameter_count() const { return model::parameter_count(impl_->network); }

std::vector<std::string> Network::layers() const {
  std::vector<std::string> names;
  for (const LayerId id : impl_->network.graph.order())
    if (!impl_->network.graph.layer(id).is_input)
      names.push_back(impl_->network.graph.layer(id).name);
  return names;
}

Weights Network::initial_weights(std::uint64_t seed) const {
  return train::run_together(nullptr, [&] {
    const model::WholeModel whole(impl_->network, at::kCPU, seed);
    Weights weights = whole.parameters();
    weights.merge(whole.buffers());
    for (auto& [name, tensor] : weights) tensor = tensor.detach();
    return weights;
  });
}

Network Network::with_weights(const Weights& weights) const {
  const std::map<std::string, Place> places = places_of(impl_->network);
  const auto& second_names = impl_->network.second_names;
  auto made = std::make_shared<Impl>(*impl_);
  std::set<std::string> given;    // as the network knows them
  std::set<std::size_t> changed;  // indices of layers
  for (const auto& [name, tensor] : weights) {
    const auto first = second_names.find(name);  // of a tied weight
    const std::string& known_as = first == second_names.end() ? name : first->second;
    const auto place = places.find(known_as);
    if (place == places.end()) {
      std::vector<std::string> names;
      for (const auto& [known, unused] : places) names.push_back(known);
      throw BadUsage("the network '" + this->name() + "' has no tensor '" + printable(name) + "'" +
                     suggestion(name, names));
    }
    if (!tensor.defined() || tensor.sizes() != place->second.shape)
      throw BadUsage("'" + name + "' of the network '" + this->name() + "' is " +
                     c10::str(at::IntArrayRef(place->second.shape)) + ", and " +
                     library::type_text(tensor) + " was given");
    Weights& start = made->starts[place->second.layer];
    if (!given.insert(known_as).second && !torch::equal(start.at(known_as), tensor.cpu()))
      throw BadUsage("'" + name + "' is another name of '" + known_as +
                     "', and the two were given different values");
    start.insert_or_assign(known_as, copy_of(tensor));
    changed.insert(place->second.layer);
  }
  for (const std::size_t layer : changed) {
    model::LayerSpec& spec = made->network.specs[layer];
    const auto base = made->bases.try_emplace(layer, spec.make_whole).first;
    begin_with(made->starts[layer], base->second, spec);
  }
  return Network(std::move(made));
}

void save_weights(const std::filesystem::path& file, const Weights& weights) {
  Weights on_cpu;
  for (const auto& [name, tensor] : weights) {
    if (!tensor.defined()) throw BadUsage("save_weights: '" + name + "' is no tensor");
    on_cpu.emplace(name, train::run_together(nullptr, [&] { return tensor.detach().cpu(); }));
  }
  model::write_weights(file, on_cpu);
}

Weights load_weights(const std::filesystem::path& file) { return model::read_weights(file); }

}  // namespace v1

void library::check_batch(const std::string& network, std::int64_t batch) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (batch < 1 || batch > kMost)
    throw BadUsage("a minibatch of the network '" + network + "' must have 1 to " +
                   std::to_string(kMost) + " samples, found " + std::to_string(batch));
}

}  // namespace pipedream
