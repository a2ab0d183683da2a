#include "imported/step.h"

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include "core/error.h"
#include "imported/imported_testing.h"
#include "model/precision.h"

namespace pipedream::imported {
namespace {

// x·wᵀ, called in a region of torch.autocast if `autocast` is given. Returns the result and w.
std::pair<at::Tensor, at::Tensor> product(std::optional<pt2::Autocast> autocast) {
  ProgramMaker maker;
  const pt2::TensorId x = maker.input("x");
  const pt2::TensorId w = maker.parameter("w");
  pt2::Program program = maker.build(maker.call("linear", {{"input", x}, {"weight", w}}));
  program.calls[0].autocast = autocast;
  const Step step(
      program.calls[0], [](pt2::TensorId tensor) { return tensor.index(); }, Kernels::kFastest,
      "net.pt2");
  Slots slots(program.tensors.size());
  slots[x.index()] = at::ones({2, 4});
  slots[w.index()] = at::full({4, 4}, 1.0 / 3).set_requires_grad(true);
  Surroundings surroundings;
  step.run(slots, 2, surroundings);
  return {slots[program.outputs[0].index()], slots[w.index()]};
}

TEST(Step, ComputesInTheTypeOfItsAutocast) {
  const auto [result, weight] = product(pt2::Autocast{.on = true, .type = pt2::Type::kBFloat16});
  EXPECT_EQ(result.scalar_type(), at::kBFloat16);
  result.sum().backward();
  EXPECT_EQ(weight.grad().scalar_type(), at::kFloat);
  EXPECT_EQ(product({}).first.scalar_type(), at::kFloat);
}

TEST(Step, TakesNoNumberForATypeWhichLibtorchWouldNotCheck) {
  ProgramMaker maker;
  const pt2::TensorId x = maker.input("x");
  pt2::Program program = maker.build(maker.call("sum", {{"self", x}, {"dtype", pt2::Size(99999)}}));
  const auto slot_of = [](pt2::TensorId tensor) { return tensor.index(); };
  EXPECT_THROW(Step(program.calls[0], slot_of, Kernels::kFastest, "net.pt2"), BadFile);
  program.calls[0].arguments[1].value = pt2::Type::kDouble;
  (void)Step(program.calls[0], slot_of, Kernels::kFastest, "net.pt2");
}

TEST(Step, ComputesInFloatWhereAutocastIsSwitchedOff) {
  const model::ComputeIn all(model::Precision::kBfloat16, at::kCPU);
  EXPECT_EQ(product({}).first.scalar_type(), at::kBFloat16);
  EXPECT_EQ(product(pt2::Autocast{.on = false, .type = {}}).first.scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace pipedream::imported
