#include "runtime/clipping.h"

#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include <ATen/ops/full.h>

#include "model/blocks.h"
#include "transport/in_process.h"

namespace pipedream::runtime {
namespace {

using namespace std::chrono_literals;

model::Network two_layers() {
  using namespace model;
  NetworkBuilder net("two layers", 2);
  Wire x = net.input("features", {2, 2}, at::kFloat);
  x = net.add("one", linear(2, 2), {x});
  x = net.add("two", linear(2, 2), {x});
  const Wire labels = net.input("labels", {2}, at::kLong, 2);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

TEST(AddNorms, SquaresAreSummedByLayerAndMissingGradientsCountNothing) {
  const model::Network network = two_layers();
  const LayerId one = network.graph.find("one").value();
  const LayerId two = network.graph.find("two").value();
  SquaredNorms norms;
  add_norms(network, {one, two},
            {at::full({2, 2}, 3.0F), at::full({2}, 4.0F), at::Tensor(), at::full({2}, 1.0F)},
            norms);
  ASSERT_EQ(norms.size(), 2u);
  EXPECT_DOUBLE_EQ(norms.at(one), 4 * 9 + 2 * 16);
  EXPECT_DOUBLE_EQ(norms.at(two), 2);
}

// The factor that each worker finds if worker w has norms[w] and all run at once.
std::vector<double> factors(double most, const plan::Plan& plan,
                            const std::vector<SquaredNorms>& norms) {
  const auto ends = transport::connect_in_process(static_cast<int>(norms.size()));
  std::vector<double> found(norms.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t w = 0; w < norms.size(); ++w)
      threads.emplace_back([&, w] {
        Clipper clipper(most, plan, *ends[w], 20s);
        found[w] = clipper.factor(norms[w]);
      });
  }
  return found;
}

TEST(Clipper, AllWorkersFindTheSameFactorAndReplicasCountOnce) {
  plan::Plan plan;
  plan.stages.resize(2);
  plan.stages[0].workers = {WorkerId{0}, WorkerId{2}};
  plan.stages[1].workers = {WorkerId{1}};
  const SquaredNorms first{{LayerId{0}, 9}};
  const SquaredNorms second{{LayerId{1}, 16}};
  for (const double factor : factors(1, plan, {first, second, first}))
    EXPECT_EQ(factor, 1 / (std::sqrt(25.0) + 1e-6));
}

TEST(Clipper, NeverLengthensGradients) {
  plan::Plan plan;
  plan.stages.resize(1);
  plan.stages[0].workers = {WorkerId{0}};
  EXPECT_EQ(factors(100, plan, {{{LayerId{0}, 9}}})[0], 1);
  EXPECT_EQ(factors(100, plan, {{}})[0], 1);
}

// Norms are summed in the order of layers, so the sum does not depend on which worker has which
// layer.
TEST(Clipper, ThePartitionChangesNoBit) {
  SquaredNorms all;
  for (int i = 0; i < 10; ++i) all[LayerId{i}] = std::exp(i * 1.7) * 1e-3;
  plan::Plan one;
  one.stages.resize(1);
  one.stages[0].workers = {WorkerId{0}};
  plan::Plan three;
  three.stages.resize(3);
  std::vector<SquaredNorms> parts(3);
  for (std::size_t w = 0; w < 3; ++w) three.stages[w].workers = {id_at<WorkerId>(w)};
  for (const auto& [layer, norm] : all) parts[layer.index() * 7 % 3][layer] = norm;
  const double wanted = factors(0.1, one, {all})[0];
  for (const double found : factors(0.1, three, parts)) EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace pipedream::runtime
