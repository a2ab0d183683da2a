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

namespace pipedream::imported {
namespace {

using model::OutputPlace;
using model::Wire;
using pt2::Call;
using pt2::Input;
using pt2::TensorId;

constexpr std::int64_t kMostElements = std::int64_t{1} << 48;  // of one tensor
// Layers and inputs that losses add.
constexpr const char* kLossNames[] = {"loss", "loss.classes_last", "loss.shift", "target"};

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
  [[nodiscard]] Wire add_loss(Loss loss);
  [[nodiscard]] Wire add_cross_entropy(const Wire& scores);
  [[nodiscard]] Wire add_language_model(const Wire& scores);
  [[nodiscard]] Wire add_mse(const Wire& output);
  // Adds a layer without weights that returns several tensors.
  std::vector<Wire> add_plain(const std::string& name, const std::string& kind,
                              const std::vector<Wire>& inputs,
                              const std::vector<model::OutputSpec>& outputs,
                              std::function<model::Tensors(const model::Tensors&)> function);
  // Chooses how the layer finds the number of samples. May add a user's input to `taken`.
  std::optional<SampleCount> sample_count(const LayerCalls& layer, std::vector<TensorId>& taken);
  [[nodiscard]] model::TensorType type_of(TensorId tensor) const;
  // Refuses an output whose first dimension does not count the samples.
  void want_samples_first(const Wire& output) const;
  // Returns `name`, or another name if an input or a layer of the loss has it.
  [[nodiscard]] std::string unique_layer_name(std::string name) const;
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
      const std::int64_t each = size.at(1);
      if (each > 0 && size.at(2) == 2 * each && size.at(7) == 7 * each)
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

std::vector<Wire> Assembling::add_plain(
    const std::string& name, const std::string& kind, const std::vector<Wire>& inputs,
    const std::vector<model::OutputSpec>& outputs,
    std::function<model::Tensors(const model::Tensors&)> function) {
  class Plain final : public model::Layer {
   public:
    explicit Plain(std::function<model::Tensors(const model::Tensors&)> of)
        : function_(std::move(of)) {}
    model::Tensors forward(const model::Tensors& given, const model::Pass&) override {
      return function_(given);
    }
    const model::Tensors& parameters() const override { return none_; }
    const model::Tensors& buffers() const override { return none_; }

   private:
    std::function<model::Tensors(const model::Tensors&)> function_;
    model::Tensors none_;
  };
  model::LayerSpec spec;
  std::vector<OutputPlace> places;
  for (const Wire& wire : inputs) {
    spec.inputs.push_back("input" + std::to_string(places.size()));
    places.push_back({wire.layer, wire.output});
  }
  spec.make = [function](const model::Tensors&, const model::Tensors&) {
    return std::make_unique<Plain>(function);
  };
  const LayerId layer = net_.assembly().add_layer(name, kind, "", outputs, places, std::move(spec));
  std::vector<Wire> wires;
  for (std::size_t i = 0; i < outputs.size(); ++i) wires.push_back({layer, outputs[i].type, i});
  return wires;
}

void Assembling::want_samples_first(const Wire& output) const {
  const TensorId last = program_.outputs.front();
  const auto& sizes = program_.tensors[last.index()].sizes;
  const bool counts = !sizes.empty() && sizes.front().at(batch_) == batch_ &&
                      (program_.symbol.empty() || sizes.front().at(batch_ + 1) == batch_ + 1);
  if (counts) return;
  refuse("the model returns " + shape_text(output.type.shape) + " for " + std::to_string(batch_) +
         " samples: the first dimension must count the samples, or let the model return its loss "
         "and choose the `loss` none");
}

std::string Assembling::unique_layer_name(std::string name) const {
  const auto is_taken = [&] {
    return std::find(std::begin(kLossNames), std::end(kLossNames), name) != std::end(kLossNames) ||
           std::any_of(program_.inputs.begin(), program_.inputs.end(), [&](const Input& input) {
             return input.kind == Input::Kind::kUser && input.name == name;
           });
  };
  while (is_taken()) name += "_module";
  return name;
}

Wire Assembling::add_cross_entropy(const Wire& scores) {
  want_samples_first(scores);
  model::Shape shape = scores.type.shape;
  if (shape.size() < 2)
    refuse("the loss cross-entropy wants scores [N, classes, …] from the model");
  const std::int64_t classes = shape[1];
  if (classes < 2)
    refuse(
        "the loss cross-entropy wants scores of at least two classes, and the model returns one "
        "score: return two, or return the loss and choose the `loss` none");
  shape.erase(shape.begin() + 1);
  Wire last = scores;
  if (shape.size() > 1) {
    model::Shape moved = shape;
    moved.push_back(classes);
    last =
        add_plain("loss.classes_last", "movedim", {scores}, {{"scores", {moved, scores.type.type}}},
                  [](const model::Tensors& x) { return model::Tensors{x[0].movedim(1, -1)}; })[0];
  }
  const Wire target = net_.input("target", shape, at::kLong, classes);
  return net_.add("loss", model::cross_entropy(), {last, target});
}

Wire Assembling::add_language_model(const Wire& scores) {
  const Input* words =
      words_predicted_by(program_, program_.tensors[program_.outputs.front().index()]);
  if (words == nullptr)
    refuse(
        "the loss language-model wants scores [N, T, words] from the model, and words [N, T] as "
        "its input");
  if (!places_.contains(words->tensor)) refuse("the model does not read its words");
  const OutputPlace place = places_.at(words->tensor);
  const model::TensorType type = type_of(words->tensor);
  if (type.shape[1] < 2)
    refuse("the loss language-model wants at least two words in a row, and found " +
           std::to_string(type.shape[1]));
  model::Shape shape = scores.type.shape;
  --shape[1];
  const auto shifted = add_plain(
      "loss.shift", "slice", {scores, {place.layer, type, place.output}},
      {{"scores", {shape, scores.type.type}}, {"next", {{shape[0], shape[1]}, at::kLong}}},
      [](const model::Tensors& x) {
        const std::int64_t steps = x[0].size(1) - 1;
        return model::Tensors{x[0].narrow(1, 0, steps), x[1].narrow(1, 1, steps).to(at::kLong)};
      });
  return net_.add("loss", model::cross_entropy(), {shifted[0], shifted[1]});
}

Wire Assembling::add_mse(const Wire& output) {
  want_samples_first(output);
  const Wire target = net_.input("target", output.type.shape, output.type.type);
  return add_plain(
      "loss", "MSE", {output, target}, {{"loss", {{}, output.type.type}}},
      [](const model::Tensors& x) { return model::Tensors{at::mse_loss(x[0], x[1])}; })[0];
}

Wire Assembling::add_loss(Loss loss) {
  const TensorId last = program_.outputs.front();
  if (loss == Loss::kCrossEntropy || loss == Loss::kMse)
    for (const Input& input : program_.inputs)
      if (input.kind == Input::Kind::kUser && input.name == "target")
        refuse(
            "forward() has an argument 'target', as the loss calls what it compares with: rename "
            "it, or let the model return its loss and choose the `loss` none");
  const OutputPlace place = places_.at(last);
  const Wire output{place.layer, type_of(last), place.output};
  if (!at::isFloatingType(output.type.type)) refuse("the model's output has no real numbers");
  switch (loss) {
    case Loss::kCrossEntropy:
      return add_cross_entropy(output);
    case Loss::kLanguageModel:
      return add_language_model(output);
    case Loss::kMse:
      return add_mse(output);
    case Loss::kNone:
      break;
  }
  if (!output.type.shape.empty())
    refuse(
        "the loss 'none' means that the model returns its loss, one number, and it returns a "
        "tensor of " +
        counted(static_cast<std::int64_t>(output.type.shape.size()), "dimension", "dimensions") +
        ": choose another `loss`");
  return output;
}

model::Network Assembling::run(Loss loss) {
  find_owners();
  find_outputs();
  add_inputs();
  for (std::size_t i = 0; i < parts_.layers.size(); ++i) OneLayer(*this, i).add();
  const Wire made = add_loss(loss);
  return std::move(net_).build(made);
}

}  // namespace

const Input* words_predicted_by(const pt2::Program& program, const pt2::Tensor& output) {
  if (output.sizes.size() != 3) return nullptr;
  for (const Input& input : program.inputs) {
    const pt2::Tensor& tensor = program.tensors[input.tensor.index()];
    if (input.kind == Input::Kind::kUser && !pt2::is_real(tensor.type) &&
        tensor.type != pt2::Type::kBool && tensor.sizes.size() == 2 &&
        tensor.sizes[0] == output.sizes[0] && tensor.sizes[1] == output.sizes[1])
      return &input;
  }
  return nullptr;
}

model::Network assemble(const Parts& parts, Loss loss, std::int64_t batch) {
  return Assembling(parts, batch).run(loss);
}

}  // namespace pipedream::imported
