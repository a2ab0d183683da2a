#include "core/nearest.h"
#include "core/text.h"
#include "library/handles.h"
#include "model/weights_file.h"
#include "model/whole_model.h"
#include "train/together.h"

namespace pipedream {
inline namespace v1 {
namespace {

// Where a tensor of the network is: the index of its layer, and its name in the layer's module.
struct Place {
  std::size_t layer = 0;
  std::string name;
  model::Shape shape;
};

std::map<std::string, Place> places_of(const Network::Impl& impl) {
  std::map<std::string, Place> places;
  for (std::size_t i = 0; i < impl.blueprints.size(); ++i) {
    if (!impl.blueprints[i]) continue;
    const auto add = [&](const auto& names, const auto& specs) {
      for (std::size_t t = 0; t < specs.size(); ++t)
        places[specs[t].name] = {i, names[t], specs[t].shape};
    };
    add(impl.blueprints[i]->parameters, impl.network.specs[i].parameters);
    add(impl.blueprints[i]->buffers, impl.network.specs[i].buffers);
  }
  return places;
}

torch::Tensor copy_of(const torch::Tensor& tensor) {
  return train::run_together(nullptr, [&] { return tensor.detach().cpu().clone(); });
}

}  // namespace

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
  const std::map<std::string, Place> places = places_of(*impl_);
  std::map<std::size_t, Weights> starts;  // layer index → initial tensors of the layer
  for (const auto& [name, tensor] : weights) {
    const auto place = places.find(name);
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
    starts[place->second.layer].emplace(place->second.name, copy_of(tensor));
  }
  auto made = std::make_shared<Impl>(*impl_);
  for (auto& [layer, start] : starts) {
    auto blueprint = std::make_shared<library::Blueprint>(*made->blueprints[layer]);
    for (auto& [name, tensor] : start) blueprint->start.insert_or_assign(name, tensor);
    library::use(blueprint, made->network.specs[layer]);
    made->blueprints[layer] = std::move(blueprint);
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
}  // namespace pipedream
