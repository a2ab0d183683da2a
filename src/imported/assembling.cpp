#include "imported/assembling.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <ATen/ATen.h>

#include "core/check.h"
#include "core/error.h"
#include "core/text.h"
#include "imported/bounds.h"
#include "imported/layer.h"
#include "imported/operators.h"
#include "imported/schema.h"
#include "model/blocks.h"
#include "pt2/calls.h"

namespace pipedream::imported {
namespace {

using model::OutputPlace;
using model::Wire;
using pt2::Call;
using pt2::Input;
using pt2::TensorId;

constexpr std::int64_t kMostElements = std::int64_t{1} << 48;  // of one tensor

bool depends_on_samples(const Call& call) {
  return std::any_of(call.arguments.begin(), call.arguments.end(), [](const auto& each) {
    if (const auto* size = std::get_if<pt2::Size>(&each.value)) return !size->is_number();
    if (const auto* list = std::get_if<std::vector<pt2::Size>>(&each.value))
      return std::any_of(list->begin(), list->end(),
                         [](const pt2::Size& size) { return !size.is_number(); });
    return false;
  });
}

class Assembling {
 public:
  Assembling(const Parts& parts, std::int64_t batch)
      : parts_(parts), program_(parts.safe.program), batch_(batch), net_(parts.name, batch) {
    for (const Input& input : program_.inputs) inputs_.emplace(input.tensor, &input);
  }

  model::Network run(Loss loss);

 private:
  class OneLayer;

  // What a layer reads without making it, in the order of first use.
  [[nodiscard]] std::vector<TensorId> needs_of(const LayerCalls& layer) const;
  void find_owners();
  void find_outputs();
  void add_inputs();
  // The wire of a tensor that a layer makes or that the user gives.
  [[nodiscard]] Wire wire_of(TensorId tensor) const {
    const OutputPlace place = places_.at(tensor);
    return {place.layer, type_of(tensor), place.output};
  }
  // The words that a language model predicts, if the model is one and reads them.
  [[nodiscard]] std::optional<Wire> words_wire() const;
  // Chooses how the layer finds the number of samples. May add a user's input to `taken`.
  std::optional<SampleCount> sample_count(const LayerCalls& layer, std::vector<TensorId>& taken);
  [[nodiscard]] model::TensorType type_of(TensorId tensor) const;
  // Returns the name of a layer of the network for a layer of the model: `name`, or another one
  // that no layer of the model has, if an input or a layer of the loss is called `name`.
  [[nodiscard]] std::string unique_layer_name(const std::string& name) const;
  [[nodiscard]] const Input& buffer_named(const std::string& name) const {
    return *std::find_if(program_.inputs.begin(), program_.inputs.end(), [&](const Input& input) {
      return input.kind == Input::Kind::kBuffer && input.name == name;
    });
  }
  [[nodiscard]] const Input* input_of(TensorId tensor) const {
    const auto found = inputs_.find(tensor);
    return found == inputs_.end() ? nullptr : found->second;
  }
  [[noreturn]] void refuse_content_of(const pt2::NewBuffer& buffer) const {
    refuse("the buffer '" + printable(buffer.buffer) +
           "' gets the content of an input or of another buffer: let forward() compute it");
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw CannotMeet(parts_.archive->path().string() + ": " + what);
  }

  const Parts& parts_;
  const pt2::Program& program_;
  std::int64_t batch_;
  model::NetworkBuilder net_;
  std::map<TensorId, const Input*> inputs_;
  std::map<TensorId, std::size_t> owner_;   // of stored tensors: the first layer that uses them
  std::set<TensorId> shared_;               // tensors of the file that several layers use
  std::map<TensorId, std::size_t> maker_;   // of results: the only layer that makes them
  std::set<TensorId> outputs_;              // made by one layer and used by others, or by the loss
  std::map<TensorId, OutputPlace> places_;  // the graph output that holds each tensor
};

std::vector<TensorId> Assembling::needs_of(const LayerCalls& layer) const {
  std::set<TensorId> known;
  std::vector<TensorId> needs;
  for (const std::size_t number : layer.calls) {
    const Call& call = program_.calls[number];
    for (const TensorId tensor : reads_of(call))
      if (known.insert(tensor).second) needs.push_back(tensor);
    for (const TensorId tensor : makes_of(call)) known.insert(tensor);
  }
  return needs;
}

void Assembling::find_owners() {
  for (std::size_t i = 0; i < parts_.layers.size(); ++i)
    for (const TensorId tensor : needs_of(parts_.layers[i]))
      if (const Input* input = input_of(tensor); input != nullptr &&
                                                 input->kind != Input::Kind::kUser &&
                                                 !owner_.emplace(tensor, i).second)
        shared_.insert(tensor);
}

// A call may be in several layers (LayerCalls): then each of them makes its results for itself.
void Assembling::find_outputs() {
  std::map<TensorId, std::set<std::size_t>> makers;
  for (std::size_t i = 0; i < parts_.layers.size(); ++i)
    for (const std::size_t number : parts_.layers[i].calls)
      for (const TensorId tensor : makes_of(program_.calls[number])) makers[tensor].insert(i);
  for (const auto& [tensor, layers] : makers)
    if (layers.size() == 1) maker_.emplace(tensor, *layers.begin());
  for (const LayerCalls& layer : parts_.layers)
    for (const TensorId tensor : needs_of(layer))
      if (maker_.contains(tensor)) outputs_.insert(tensor);
  for (const pt2::NewBuffer& each : program_.new_buffers)
    if (const auto maker = maker_.find(each.tensor); maker != maker_.end())
      owner_.emplace(buffer_named(each.buffer).tensor, maker->second);
  const TensorId last = program_.outputs.front();
  if (!maker_.contains(last)) refuse("the model's output does not depend on trained parameters");
  outputs_.insert(last);
}

model::TensorType Assembling::type_of(TensorId tensor) const {
  const pt2::Tensor& of = program_.tensors[tensor.index()];
  model::TensorType type{{}, to_torch(of.type)};
  try {
    std::int64_t elements = 1;
    for (const pt2::Size& size : of.sizes) {
      type.shape.push_back(size.at(batch_));
      if (type.shape.back() < 0) throw BadValue("it is below 0");
      if (__builtin_mul_overflow(elements, std::max<std::int64_t>(type.shape.back(), 1),
                                 &elements) ||
          elements > kMostElements)
        throw BadValue("it is too large");
    }
  } catch (const BadValue& error) {
    refuse("`batch` " + std::to_string(batch_) + " gives the tensor '" + printable(of.name) +
           "' no size: " + error.what());
  }
  return type;
}

void Assembling::add_inputs() {
  std::set<TensorId> used;
  for (const LayerCalls& layer : parts_.layers)
    for (const TensorId tensor : needs_of(layer)) used.insert(tensor);
  // The first input is always added: layers may read the number of samples from it.
  bool is_first = true;
  for (const Input& input : program_.inputs) {
    if (input.kind != Input::Kind::kUser || (!used.contains(input.tensor) && !is_first)) continue;
    is_first = false;
    const model::TensorType type = type_of(input.tensor);
    if (std::count(type.shape.begin(), type.shape.end(), 0) > 0)
      refuse("the input '" + printable(input.name) + "' has the shape " + shape_text(type.shape) +
             ", which holds nothing");
    places_[input.tensor] = {
        net_.assembly().add_input(input.name, type, bound_of(program_, input, batch_)), 0};
  }
}

std::optional<SampleCount> Assembling::sample_count(const LayerCalls& layer,
                                                    std::vector<TensorId>& taken) {
  if (std::none_of(layer.calls.begin(), layer.calls.end(),
                   [&](std::size_t number) { return depends_on_samples(program_.calls[number]); }))
    return std::nullopt;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const auto& sizes = program_.tensors[taken[i].index()].sizes;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const pt2::Size& size = sizes[d];
      if (size.is_number()) continue;
      // A multiple of the number of samples.
      const std::int64_t each = size.value_at(1).value_or(0);
      if (each > 0 && size.value_at(2) == 2 * each && size.value_at(7) == 7 * each)
        return SampleCount{i, static_cast<std::int64_t>(d), each};
    }
  }
  for (const Input& input : program_.inputs)
    if (input.kind == Input::Kind::kUser && places_.contains(input.tensor)) {
      taken.push_back(input.tensor);
      return SampleCount{taken.size() - 1, 0, 1};
    }
  PD_CHECK(false && "a network has an input");
  return std::nullopt;
}

// Fills in the blueprint and the spec of one layer.
class Assembling::OneLayer {
 public:
  OneLayer(Assembling& all, std::size_t number)
      : all_(all), number_(number), layer_(all.parts_.layers[number]) {
    blueprint_->name = layer_.name;
    blueprint_->archive = all.parts_.archive;
  }

  void add() {
    for (const TensorId tensor : all_.needs_of(layer_)) add_need(tensor);
    keep_written();
    if (number_ == 0) keep_unused();
    blueprint_->samples = all_.sample_count(layer_, taken_);
    for (const std::size_t call : layer_.calls)
      blueprint_->steps.emplace_back(
          all_.program_.calls[call], [&](TensorId tensor) { return slot_of(tensor); },
          all_.parts_.kernels, all_.parts_.archive->path().string());
    add_outputs();
    share_parameters();
    renew_buffers();
    free_early();
    put_into_network();
  }

 private:
  std::size_t slot_of(TensorId tensor) {
    return slots_.emplace(tensor, slots_.size()).first->second;
  }
  [[nodiscard]] model::TensorSpec spec_of(const Input& input) const {
    const model::TensorType type = all_.type_of(input.tensor);
    return {input.name, type.shape, {}, type.type};
  }
  void add_need(TensorId tensor);
  // Adds a tensor to the state that the layer keeps without training it.
  void keep(const Input& input, std::optional<std::size_t> slot);
  // Keeps buffers whose new content this layer makes, and whose old content nobody reads.
  void keep_written();
  // The first layer keeps what no layer uses, so that files of weights are complete.
  void keep_unused();
  void add_outputs();
  // Makes each parameter that later layers use an output of this layer.
  void share_parameters();
  void renew_buffers();
  // Lets a tensor leave its slot after its last use.
  void free_early();
  void put_into_network();

  Assembling& all_;
  std::size_t number_;
  const LayerCalls& layer_;
  std::shared_ptr<Blueprint> blueprint_ = std::make_shared<Blueprint>();
  std::map<TensorId, std::size_t> slots_;
  model::LayerSpec spec_;
  std::vector<TensorId> taken_;  // from other layers and from the user
  std::vector<model::OutputSpec> outputs_;
  std::vector<TensorId> made_;  // parallel to `outputs_`
};

void Assembling::OneLayer::add_need(TensorId tensor) {
  const Input* input = all_.input_of(tensor);
  if (input == nullptr || input->kind == Input::Kind::kUser) {
    taken_.push_back(tensor);
    return;
  }
  const bool is_owner = all_.owner_.at(tensor) == number_;
  const bool is_changed = all_.parts_.safe.uses[tensor.index()] != BufferUse::kUnchanged;
  if (all_.parts_.is_trained[tensor.index()] && !is_owner) {
    taken_.push_back(tensor);
  } else if (all_.parts_.is_trained[tensor.index()]) {
    blueprint_->parameters.push_back({*input, slot_of(tensor)});
    spec_.parameters.push_back(spec_of(*input));
  } else if (is_owner && (input->is_in_state_dict || is_changed)) {
    keep(*input, slot_of(tensor));
  } else if (input->is_in_state_dict) {
    blueprint_->copies.push_back({*input, slot_of(tensor)});
    spec_.copies.push_back(spec_of(*input));
  } else {
    blueprint_->constants.push_back({*input, slot_of(tensor)});
  }
}

void Assembling::OneLayer::keep(const Input& input, std::optional<std::size_t> slot) {
  blueprint_->buffers.push_back({input, slot});
  blueprint_->uses.push_back(all_.parts_.safe.uses[input.tensor.index()]);
  spec_.buffers.push_back(spec_of(input));
}

void Assembling::OneLayer::keep_written() {
  for (const pt2::NewBuffer& each : all_.program_.new_buffers) {
    const Input& buffer = all_.buffer_named(each.buffer);
    const auto owner = all_.owner_.find(buffer.tensor);
    const auto is_this = [&](const Blueprint::FromFile& kept) {
      return kept.input.name == buffer.name;
    };
    const auto& kept = blueprint_->buffers;
    if (owner != all_.owner_.end() && owner->second == number_ &&
        std::none_of(kept.begin(), kept.end(), is_this))
      keep(buffer, std::nullopt);
  }
}

void Assembling::OneLayer::keep_unused() {
  for (const Input& input : all_.program_.inputs)
    if (input.kind != Input::Kind::kUser && input.is_in_state_dict &&
        !all_.owner_.contains(input.tensor) && !all_.parts_.second_names.contains(input.name))
      keep(input, std::nullopt);
}

void Assembling::OneLayer::add_outputs() {
  for (const std::size_t call : layer_.calls)
    for (const TensorId tensor : makes_of(all_.program_.calls[call])) {
      if (!all_.outputs_.contains(tensor)) continue;
      made_.push_back(tensor);
      blueprint_->outputs.push_back(slot_of(tensor));
      blueprint_->output_types.push_back(all_.program_.tensors[tensor.index()]);
      outputs_.push_back({all_.program_.tensors[tensor.index()].name, all_.type_of(tensor)});
    }
}

void Assembling::OneLayer::share_parameters() {
  for (std::size_t p = 0; p < blueprint_->parameters.size(); ++p) {
    const TensorId tensor = blueprint_->parameters[p].input.tensor;
    if (!all_.shared_.contains(tensor)) continue;
    blueprint_->shared.push_back(p);
    made_.push_back(tensor);
    outputs_.push_back({spec_.parameters[p].name, all_.type_of(tensor), /*is_weight=*/true});
  }
}

void Assembling::OneLayer::renew_buffers() {
  for (const pt2::NewBuffer& each : all_.program_.new_buffers)
    for (std::size_t b = 0; b < blueprint_->buffers.size(); ++b)
      if (blueprint_->buffers[b].input.name == each.buffer) {
        if (!slots_.contains(each.tensor)) all_.refuse_content_of(each);
        blueprint_->renewed.emplace_back(b, slot_of(each.tensor));
      }
}

void Assembling::OneLayer::free_early() {
  std::set<std::size_t> needed(blueprint_->outputs.begin(), blueprint_->outputs.end());
  for (const auto& [buffer, slot] : blueprint_->renewed) needed.insert(slot);
  for (std::size_t s = blueprint_->steps.size(); s-- > 0;) {
    Step& step = blueprint_->steps[s];
    for (const auto* list : {&step.reads(), &step.makes()})
      for (const std::size_t slot : *list)
        if (needed.insert(slot).second) step.last_uses.push_back(slot);
  }
}

void Assembling::OneLayer::put_into_network() {
  std::vector<OutputPlace> places;
  for (const TensorId tensor : taken_) {
    blueprint_->inputs.push_back(slot_of(tensor));
    places.push_back(all_.places_.at(tensor));
    spec_.inputs.push_back(all_.program_.tensors[tensor.index()].name);
  }
  blueprint_->slots = slots_.size();
  spec_.make_whole = [blueprint = std::shared_ptr<const Blueprint>(blueprint_)](const RandomKey&,
                                                                                at::Device device) {
    return make_imported_layer(blueprint, device);
  };
  const LayerId id = all_.net_.assembly().add_layer(
      all_.unique_layer_name(layer_.name), layer_.kind, "", outputs_, places, std::move(spec_));
  for (std::size_t i = 0; i < made_.size(); ++i) all_.places_[made_[i]] = {id, i};
}

std::optional<Wire> Assembling::words_wire() const {
  const Input* words =
      words_predicted_by(program_, program_.tensors[program_.outputs.front().index()]);
  if (words == nullptr || !places_.contains(words->tensor)) return std::nullopt;
  return wire_of(words->tensor);
}

std::string Assembling::unique_layer_name(const std::string& name) const {
  std::string unique = name;
  const auto is_taken = [&] {
    return is_name_of_loss(unique) ||
           std::any_of(program_.inputs.begin(), program_.inputs.end(),
                       [&](const Input& input) {
                         return input.kind == Input::Kind::kUser && input.name == unique;
                       }) ||
           std::any_of(parts_.layers.begin(), parts_.layers.end(), [&](const LayerCalls& layer) {
             return unique != name && layer.name == unique;
           });
  };
  while (is_taken()) unique += "_module";
  return unique;
}

model::Network Assembling::run(Loss loss) {
  find_owners();
  find_outputs();
  add_inputs();
  for (std::size_t i = 0; i < parts_.layers.size(); ++i) OneLayer(*this, i).add();
  const Wire made = add_loss({.program = program_,
                              .file = parts_.archive->path().string(),
                              .batch = batch_,
                              .output = wire_of(program_.outputs.front()),
                              .words = words_wire(),
                              .net = net_},
                             loss);
  return std::move(net_).build(made);
}

}  // namespace

model::Network assemble(const Parts& parts, Loss loss, std::int64_t batch) {
  return Assembling(parts, batch).run(loss);
}

}  // namespace pipedream::imported
