#include "imported/grouping.h"

#include <gtest/gtest.h>

#include "imported/imported_testing.h"

namespace pipedream::imported {
namespace {

using pt2::Size;
using pt2::TensorId;

std::vector<LayerCalls> groups_of(ProgramMaker& make, TensorId output) {
  const SafeProgram safe = make_safe(make.build(output), make.different(), "net");
  return group_calls(safe, make.trained());
}

std::vector<std::string> names_of(const std::vector<LayerCalls>& layers) {
  std::vector<std::string> names;
  for (const LayerCalls& layer : layers) names.push_back(layer.name);
  return names;
}

TEST(Grouping, MakesALayerOfEachModule) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  const TensorId w = make.parameter("fc.weight");
  const TensorId y = make.call("linear", {{"input", x}, {"weight", w}}, "", "fc");
  const TensorId z = make.call("relu", {{"self", y}}, "", "act");
  const TensorId flat = make.call("view", {{"self", z}, {"size", std::vector<Size>{4, 4}}});
  const TensorId v = make.parameter("head.weight");
  const auto layers =
      groups_of(make, make.call("linear", {{"input", flat}, {"weight", v}}, "", "head"));
  EXPECT_EQ(names_of(layers), (std::vector<std::string>{"fc", "act", "head"}));
  EXPECT_EQ(layers[1].calls, (std::vector<std::size_t>{1, 2}))
      << "a view goes with the call before";
}

TEST(Grouping, DividesPlainCodeBeforeHeavyOperators) {
  ProgramMaker make;
  TensorId x = make.input("x");
  for (int i = 0; i < 3; ++i) {
    const TensorId w = make.parameter("w" + std::to_string(i));
    x = make.call("relu", {{"self", make.call("linear", {{"input", x}, {"weight", w}})}});
  }
  EXPECT_EQ(names_of(groups_of(make, x)),
            (std::vector<std::string>{"linear", "linear_2", "linear_3"}));
}

TEST(Grouping, DoesNotDivideWhereSeveralTensorsGoOn) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  const TensorId q = make.call("linear", {{"input", x}, {"weight", make.parameter("q")}});
  const TensorId k = make.call("linear", {{"input", x}, {"weight", make.parameter("k")}});
  const TensorId mixed = make.call("matmul", {{"self", q}, {"other", k}});
  const auto layers = groups_of(make, make.call("add", {{"self", mixed}, {"other", q}}, "Tensor"));
  ASSERT_EQ(layers.size(), 2U) << "before the second linear one tensor goes on, later two";
  EXPECT_EQ(layers[1].calls, (std::vector<std::size_t>{1, 2, 3}));
}

TEST(Grouping, RepeatsWhatIsCheapAndWithoutWeights) {
  ProgramMaker make;
  const TensorId x = make.input("x");
  const TensorId mask = make.call("gt", {{"self", x}, {"other", Size(0)}}, "Scalar");
  TensorId y = x;
  for (const std::string name : {"a", "b"}) {
    const TensorId w = make.parameter(name + ".weight");
    const TensorId z = make.call("linear", {{"input", y}, {"weight", w}}, "", name);
    y = make.call("mul", {{"self", z}, {"other", mask}}, "Tensor", name);
  }
  const auto layers = groups_of(make, y);
  ASSERT_EQ(layers.size(), 2U);
  for (const LayerCalls& layer : layers)
    EXPECT_EQ(layer.calls.front(), 0U) << layer.name << " makes the mask by itself";
}

}  // namespace
}  // namespace pipedream::imported
