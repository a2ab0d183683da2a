#include "imported/network.h"

#include <cstring>

#include <gtest/gtest.h>

#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "imported/operators.h"
#include "model/whole_model.h"
#include "pt2/program_testing.h"
#include "pt2/zip_testing.h"

namespace pipedream::imported {
namespace {

// The number of samples in the small program.
const std::string kFree =
    R"j({"as_expr": {"expr_str": "Symbol('s7', positive=True, integer=True)", "hint": {"as_int": 2}}})j";

class ImportedModel : public testing::Test {
 protected:
  // The small program, in which `from` is replaced.
  std::filesystem::path write(const std::string& from = "", const std::string& to = "") const {
    std::string program = pt2::small_program();
    for (std::size_t at = 0; !from.empty() && (at = program.find(from, at)) != std::string::npos;
         at += to.size())
      program.replace(at, from.size(), to);
    const std::vector<float> weight{1, 2, 3, 4, 5, 6};
    const std::vector<float> bias{0.5, -100};
    const auto bytes = [](const std::vector<float>& numbers) {
      return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4);
    };
    const auto path = folder_.path() / "net.pt2";
    write_file_atomically(
        path,
        pt2::make_zip({{"net/models/model.json", program},
                       {"net/data/weights/model_weights_config.json", pt2::small_weights()},
                       {"net/data/constants/model_constants_config.json", R"({"config": {}})"},
                       {"net/data/weights/weight_0", bytes(weight)},
                       {"net/data/weights/weight_1", bytes(bias)}}));
    return path;
  }
  test::TemporaryFolder folder_;
};

TEST_F(ImportedModel, ComputesWhatTheProgramSays) {
  const Model model(write());
  EXPECT_EQ(model.default_loss(), Loss::kCrossEntropy);
  EXPECT_FALSE(model.fixed_batch());
  const model::Network network = model.network(Loss::kCrossEntropy, 8);
  ASSERT_EQ(network.inputs.size(), 2U);
  EXPECT_EQ(network.inputs[0].shape, (model::Shape{8, 3}));
  EXPECT_EQ(network.inputs[1].name, "target");
  EXPECT_EQ(network.inputs[1].bound, 2);
  model::WholeModel whole(network, at::kCPU, /*seed=*/1);
  // Any number of samples can be computed.
  model::Values inputs;
  inputs[network.graph.layer(network.inputs[0].layer).outputs[0]] = at::ones({5, 3});
  inputs[network.graph.layer(network.inputs[1].layer).outputs[0]] = at::ones({5}, at::kLong);
  const model::Values values = whole.forward(inputs, 0);
  const LayerId loss = network.graph.value(network.loss).producer;
  const at::Tensor scores = values.at(network.graph.layer(loss).inputs[0]);
  EXPECT_EQ(scores.sizes(), (model::Shape{5, 2}));
  EXPECT_EQ(scores[0][0].item<float>(), 6.5F);
  EXPECT_EQ(scores[0][1].item<float>(), 0.0F);
}

TEST_F(ImportedModel, WithOneNumberPerSampleIsForMse) {
  const Model model(write(kFree + R"(, {"as_int": 2})", kFree + R"(, {"as_int": 1})"));
  EXPECT_EQ(model.default_loss(), Loss::kMse);
}

TEST_F(ImportedModel, ListsAllOperatorsThatAreNotSupported) {
  const auto refusal = test::message_of<CannotMeet>([&] {
    const Model model(write("torch.ops.aten.relu.default", "torch.ops.aten.from_file.default"));
  });
  EXPECT_NE(refusal.find("aten::from_file in the model itself"), std::string::npos) << refusal;
  const auto other = test::message_of<CannotMeet>([&] {
    const Model model(write("torch.ops.aten.linear.default", "torch.ops.mine.secret.default"));
  });
  EXPECT_NE(other.find("mine::secret in fc"), std::string::npos) << other;
}

TEST_F(ImportedModel, RefusesWhatDoesNotFit) {
  const Model model(write());
  EXPECT_THROW((void)model.network(Loss::kCrossEntropy, 65), CannotMeet);  // the Dim allows 64
  EXPECT_THROW((void)model.network(Loss::kLanguageModel, 8), CannotMeet);
  EXPECT_THROW((void)model.network(Loss::kNone, 8), CannotMeet);
  EXPECT_EQ(model.network(Loss::kMse, 8).inputs[1].shape, (model::Shape{8, 2}));
  EXPECT_THROW((void)loss_named("hinge"), BadUsage);
}

TEST_F(ImportedModel, WithANumberOfSamplesComputesOnlyThat) {
  const Model model(write(kFree, R"({"as_int": 2})"));
  EXPECT_EQ(model.fixed_batch(), 2);
  EXPECT_TRUE(model.network(Loss::kCrossEntropy, 2).has_fixed_batch);
  EXPECT_THROW((void)model.network(Loss::kCrossEntropy, 3), CannotMeet);
  ASSERT_EQ(model.notes().size(), 1U);
  EXPECT_NE(model.notes()[0].find("torch.export.Dim"), std::string::npos);
}

TEST(Operators, AreAllowedByNameAlone) {
  for (const char* op : {"aten::add", "aten::add_", "aten::__and__", "aten::conv2d"})
    EXPECT_TRUE(is_allowed(op)) << op;
  for (const char* op : {"aten::from_file", "aten::save", "aten::set_", "aten::nonzero",
                         "other::add", "add", "aten::", "aten::item"})
    EXPECT_FALSE(is_allowed(op)) << op;
}

}  // namespace
}  // namespace pipedream::imported
