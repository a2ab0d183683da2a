#include "imported/losses.h"

#include <algorithm>
#include <functional>

#include <ATen/ops/mse_loss.h>

#include "core/check.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"
#include "model/blocks.h"

namespace pipedream::imported {
namespace {

using model::Wire;
using pt2::Input;

constexpr std::pair<const char*, Loss> kLosses[] = {{"cross-entropy", Loss::kCrossEntropy},
                                                    {"mse", Loss::kMse},
                                                    {"language-model", Loss::kLanguageModel},
                                                    {"none", Loss::kNone}};

// Layers and inputs that losses add.
constexpr std::string_view kAdded[] = {"loss", "loss.classes_last", "loss.shift", "target"};

[[noreturn]] void refuse(const LossPlace& place, const std::string& what) {
  throw CannotMeet(place.file + ": " + what);
}

// Adds a layer without weights that returns several tensors.
std::vector<Wire> add_plain(model::NetworkBuilder& net, const std::string& name,
                            const std::string& kind, const std::vector<Wire>& inputs,
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
  std::vector<model::OutputPlace> places;
  for (const Wire& wire : inputs) {
    spec.inputs.push_back("input" + std::to_string(places.size()));
    places.push_back({wire.layer, wire.output});
  }
  spec.make = [function](const model::Tensors&, const model::Tensors&) {
    return std::make_unique<Plain>(function);
  };
  const LayerId layer = net.assembly().add_layer(name, kind, "", outputs, places, std::move(spec));
  std::vector<Wire> wires;
  for (std::size_t i = 0; i < outputs.size(); ++i) wires.push_back({layer, outputs[i].type, i});
  return wires;
}

// Refuses an output whose first dimension does not count the samples.
void want_samples_first(const LossPlace& place) {
  const pt2::TensorId last = place.program.outputs.front();
  const auto& sizes = place.program.tensors[last.index()].sizes;
  const bool counts =
      !sizes.empty() && sizes.front().value_at(place.batch) == place.batch &&
      (place.program.symbol.empty() || sizes.front().value_at(place.batch + 1) == place.batch + 1);
  if (counts) return;
  refuse(
      place,
      "the model returns " + shape_text(place.output.type.shape) + " for " +
          std::to_string(place.batch) +
          " samples: the first dimension must count the samples, or let the model return its loss "
          "and choose the `loss` none");
}

Wire add_cross_entropy(const LossPlace& place) {
  want_samples_first(place);
  const Wire& scores = place.output;
  model::Shape shape = scores.type.shape;
  if (shape.size() < 2)
    refuse(
        place,
        "the loss cross-entropy wants scores [N, classes, …], and the model returns one number per "
        "sample: choose the `loss` mse, or return scores");
  const std::int64_t classes = shape[1];
  if (classes < 2)
    refuse(place,
           "the loss cross-entropy wants scores of at least two classes, and the model returns one "
           "number per sample: choose the `loss` mse, return two scores, or return the loss itself "
           "and choose the `loss` none");
  shape.erase(shape.begin() + 1);
  Wire last = scores;
  if (shape.size() > 1) {
    model::Shape moved = shape;
    moved.push_back(classes);
    last = add_plain(place.net, "loss.classes_last", "movedim", {scores},
                     {{"scores", {moved, scores.type.type}}}, [](const model::Tensors& x) {
                       return model::Tensors{x[0].movedim(1, -1)};
                     })[0];
  }
  const Wire target = place.net.input("target", shape, at::kLong, classes);
  return place.net.add("loss", model::cross_entropy(), {last, target});
}

Wire add_language_model(const LossPlace& place) {
  const Wire& scores = place.output;
  const auto& last = place.program.tensors[place.program.outputs.front().index()];
  if (words_predicted_by(place.program, last) == nullptr)
    refuse(place,
           "the loss language-model wants scores [N, T, words] from the model, and words [N, T] as "
           "its input");
  if (!place.words) refuse(place, "the model does not read its words");
  const model::Shape& read = place.words->type.shape;
  if (read[1] < 2)
    refuse(place, "the loss language-model wants at least two words in a row, and found " +
                      std::to_string(read[1]));
  model::Shape shape = scores.type.shape;
  --shape[1];
  const auto shifted = add_plain(
      place.net, "loss.shift", "slice", {scores, *place.words},
      {{"scores", {shape, scores.type.type}}, {"next", {{shape[0], shape[1]}, at::kLong}}},
      [](const model::Tensors& x) {
        const std::int64_t steps = x[0].size(1) - 1;
        return model::Tensors{x[0].narrow(1, 0, steps), x[1].narrow(1, 1, steps).to(at::kLong)};
      });
  return place.net.add("loss", model::cross_entropy(), {shifted[0], shifted[1]});
}

Wire add_mse(const LossPlace& place) {
  want_samples_first(place);
  const Wire& output = place.output;
  const Wire target = place.net.input("target", output.type.shape, output.type.type);
  return add_plain(
      place.net, "loss", "MSE", {output, target}, {{"loss", {{}, output.type.type}}},
      [](const model::Tensors& x) { return model::Tensors{at::mse_loss(x[0], x[1])}; })[0];
}

}  // namespace

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const auto& [text, loss] : kLosses) names.emplace_back(text);
  return names;
}

Loss loss_named(const std::string& name) {
  for (const auto& [text, loss] : kLosses)
    if (name == text) return loss;
  throw BadUsage("there is no loss '" + printable(name) + "'" + suggestion(name, loss_names()));
}

std::string to_text(Loss loss) {
  for (const auto& [text, known] : kLosses)
    if (loss == known) return text;
  PD_CHECK(false && "every loss has a name");
  return "";
}

Loss fitting_loss(const pt2::Program& program) {
  const pt2::Tensor& output = program.tensors[program.outputs.front().index()];
  if (output.sizes.empty()) return Loss::kNone;
  if (words_predicted_by(program, output) != nullptr) return Loss::kLanguageModel;
  // One number per sample cannot be scores of classes.
  const bool has_classes = output.sizes.size() > 1 && output.sizes[1].value_at(2).value_or(1) > 1;
  return has_classes ? Loss::kCrossEntropy : Loss::kMse;
}

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

namespace {

// Returns whether the layers and the input that the loss adds have this name.
bool uses_name(Loss loss, std::string_view name) {
  if (name == "target") return loss == Loss::kCrossEntropy || loss == Loss::kMse;
  return is_name_of_loss(name);
}

}  // namespace

Wire add_loss(const LossPlace& place, Loss loss) {
  for (const Input& input : place.program.inputs)
    if (input.kind == Input::Kind::kUser && uses_name(loss, input.name))
      refuse(place, "forward() has an argument '" + input.name +
                        "', but the layers of the loss use this name: rename the argument" +
                        (input.name == "target" ? ", or let the model return its loss and choose "
                                                  "the `loss` none"
                                                : ""));
  const Wire& output = place.output;
  if (!at::isFloatingType(output.type.type))
    refuse(place, "the model's output has no real numbers");
  switch (loss) {
    case Loss::kCrossEntropy:
      return add_cross_entropy(place);
    case Loss::kLanguageModel:
      return add_language_model(place);
    case Loss::kMse:
      return add_mse(place);
    case Loss::kNone:
      break;
  }
  if (!output.type.shape.empty())
    refuse(place,
           "the loss 'none' means that the model returns its loss, one number, and it returns a "
           "tensor of " +
               counted(static_cast<std::int64_t>(output.type.shape.size()), "dimension",
                       "dimensions") +
               ": choose another `loss`");
  return output;
}

bool is_name_of_loss(std::string_view name) {
  return std::find(std::begin(kAdded), std::end(kAdded), name) != std::end(kAdded);
}

}  // namespace pipedream::imported
