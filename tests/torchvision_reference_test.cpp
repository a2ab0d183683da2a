// The three image networks have the tensor names of torchvision, and with the same weights they
// give the same logits, gradients and running averages, up to 1e-5.
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <torch/csrc/autograd/autograd.h>

#include "model/weights_file.h"
#include "model/whole_model.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

constexpr int kNotInstalled = 77;
constexpr double kTolerance = 1e-5;  // relative to the tensor's largest entry

// In float32 the gradients of an untrained ResNet in training mode are noise: torchvision's own
// differ by up to a quarter from those it computes in float64, since batch norm turns the smallest
// differences into flipped ReLUs. So that network is compared in float64.
struct Case {
  std::string name;
  int image_size;
  int batch;
  at::ScalarType type;
};

class TorchvisionReference : public testing::TestWithParam<Case> {};

// The largest difference, relative to the largest entry. Infinite if the shapes differ.
double difference(const at::Tensor& ours, const at::Tensor& theirs) {
  if (ours.sizes() != theirs.sizes()) return INFINITY;
  if (ours.numel() == 0) return 0;
  const double largest = theirs.abs().max().item<double>();
  const double apart = (ours.to(theirs.dtype()) - theirs).abs().max().item<double>();
  return largest == 0 ? apart : apart / largest;
}

// Expects that both sides have the same names, and tensors that agree within `kTolerance`.
void expect_same(const std::map<std::string, at::Tensor>& ours, const NamedTensors& reference,
                 const std::string& prefix) {
  std::size_t theirs = 0;
  for (const auto& [name, tensor] : reference) theirs += name.starts_with(prefix) ? 1 : 0;
  EXPECT_EQ(ours.size(), theirs);
  for (const auto& [name, tensor] : ours) {
    ASSERT_TRUE(reference.contains(prefix + name)) << "torchvision has no " << prefix << name;
    EXPECT_LE(difference(tensor, reference.at(prefix + name)), kTolerance) << prefix << name;
  }
}

NamedTensors run_torchvision(const Case& wanted) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("pipedream_" + wanted.name + std::to_string(::getpid()) + ".safetensors");
  const std::string command =
      std::string(PD_PYTHON) + " '" PD_SOURCE_DIR "/tests/reference/torchvision_reference.py' " +
      wanted.name + " " + std::to_string(wanted.image_size) + " " + std::to_string(wanted.batch) +
      (wanted.type == at::kDouble ? " float64 '" : " float32 '") + file.string() + "'";
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status == kNotInstalled) return {};
  EXPECT_EQ(status, 0) << command;
  NamedTensors tensors = read_weights(file);
  std::filesystem::remove(file);
  return tensors;
}

// Sets the tensors of our model to the values and the type of the reference.
void set(const std::map<std::string, at::Tensor>& tensors, const NamedTensors& reference) {
  for (const auto& [name, tensor] : tensors) {
    ASSERT_EQ(tensor.sizes(), reference.at("weight/" + name).sizes()) << name;
    tensor.set_data(reference.at("weight/" + name).clone());
  }
}

TEST_P(TorchvisionReference, GivesTheSameLogitsGradientsAndAverages) {
  const Case& wanted = GetParam();
  const NamedTensors reference = run_torchvision(wanted);
  if (reference.empty()) GTEST_SKIP() << "torchvision is not installed for " << PD_PYTHON;

  const NetworkEntry& entry = zoo_entry(wanted.name);
  std::map<std::string, std::string> given{{"image-size", std::to_string(wanted.image_size)}};
  if (wanted.name != "resnet50") given["dropout"] = "0";
  const Network network = entry.make(Options(entry.options, given), wanted.batch);
  WholeModel ours(network, at::kCPU, 1);
  set(ours.parameters(), reference);
  set(ours.buffers(), reference);

  Values inputs;
  for (const InputSpec& input : network.inputs)
    inputs[network.graph.layer(input.layer).outputs[0]] = reference.at(input.name);
  const Values values = ours.forward(inputs, 0);
  const LayerId loss_layer = network.graph.value(network.loss).producer;
  const ValueId logits = network.graph.layer(loss_layer).inputs[0];
  EXPECT_LE(difference(values.at(logits).detach(), reference.at("logits")), kTolerance);
  torch::autograd::backward({values.at(network.loss)}, {});
  std::map<std::string, at::Tensor> gradients;
  for (const auto& [name, parameter] : ours.parameters()) gradients[name] = parameter.grad();
  expect_same(gradients, reference, "gradient/");
  expect_same(ours.buffers(), reference, "after/");
}

INSTANTIATE_TEST_SUITE_P(Networks, TorchvisionReference,
                         testing::Values(Case{"vgg16", 224, 1, at::kFloat},
                                         Case{"alexnet", 224, 2, at::kFloat},
                                         Case{"resnet50", 64, 4, at::kDouble}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace pipedream::model
