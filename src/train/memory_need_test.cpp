#include "train/memory_need.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "model/memory_meter.h"
#include "model/whole_model.h"
#include "model/zoo.h"

namespace pipedream::train {
namespace {

model::Network network_of(const std::string& name,
                          const std::map<std::string, std::string>& options, std::int64_t batch) {
  const model::NetworkEntry& entry = model::zoo_entry(name);
  return entry.make(model::Options(entry.options, options), batch);
}

// What one minibatch really takes beside the weights.
double measured_activations(const model::Network& network) {
  model::WholeModel model(network, at::kCPU, 0);
  const model::MemoryMeter meter;
  (void)model.forward(model.sample_inputs(0), 0).at(network.loss).backward();
  return static_cast<double>(meter.peak());
}

TEST(MemoryNeed, OfAProfileIsScaledUpFromAFewSamples) {
  for (const auto& [name, options] : std::map<std::string, std::map<std::string, std::string>>{
           {"gpt", {{"hidden", "64"}, {"layers", "2"}, {"heads", "2"}, {"context", "64"}}},
           {"vgg16", {{"image-size", "32"}, {"classes", "10"}, {"hidden", "64"}}}}) {
    const model::Network network = network_of(name, options, 24);
    const Bytes declared{model::state_bytes(network).count * 2};
    // So little memory that the sizes that layers declare do not settle the question.
    const MemoryNeed rough =
        need_of_profile(network, model::Precision::kFloat, 1, 1, Bytes{std::int64_t{1} << 50});
    const MemoryNeed need =
        need_of_profile(network, model::Precision::kFloat, 1, 2, Bytes{rough.total().count});
    EXPECT_EQ(need.weights, declared) << name;
    const double measured = measured_activations(network);
    const double estimated = static_cast<double>(need.activations.count);
    EXPECT_GT(estimated, 0.9 * measured) << name;
    EXPECT_LT(estimated, 1.1 * measured) << name;
    EXPECT_EQ(need.total().count, 2 * (need.weights.count + need.activations.count)) << name;
  }
}

TEST(MemoryNeed, OfAHugeNetworkIsRefusedWithoutAllocatingIt) {
  const model::Network huge =
      network_of("mlp", {{"hidden", "1000000"}, {"layers", "4"}}, 1);  // 16 TB of weights
  const std::string message = test::message_of<CannotMeet>(
      [&] { want_memory_for_profile(huge, model::Precision::kFloat, 1, 2); });
  EXPECT_NE(message.find("profiling mlp will need about"), std::string::npos) << message;
  EXPECT_NE(message.find("2 copies of the network"), std::string::npos) << message;
}

TEST(MemoryNeed, OfATrainingIsWhatThePlanPredicts) {
  plan::PlanFile file;
  file.plan.stages = {{{}, {WorkerId{0}}, 1, false}, {{}, {WorkerId{1}}, 1, false}};
  file.predicted.stages = {{1, Bytes{1}, Bytes{1000}}, {1, Bytes{1}, Bytes{std::int64_t{1} << 60}}};
  EXPECT_NO_THROW(want_memory_for_training(file, {WorkerId{0}}, {}));
  EXPECT_THROW(want_memory_for_training(file, {WorkerId{0}, WorkerId{1}}, {}), CannotMeet);
  const std::vector<Bytes> copies{Bytes{std::int64_t{1} << 60}, Bytes{1}};
  EXPECT_THROW(want_memory_for_training(file, {WorkerId{0}}, copies), CannotMeet);
}

// Worker 1 runs a replica of both stages.
TEST(MemoryNeed, OfACheckpointsCopyIsSharedByReplicas) {
  plan::PlanFile file;
  file.plan.stages = {{{}, {WorkerId{0}, WorkerId{1}}, 1, false}, {{}, {WorkerId{1}}, 1, false}};
  file.predicted.stages = {{1, Bytes{100}, Bytes{1}}, {1, Bytes{30}, Bytes{1}}};
  EXPECT_EQ(checkpoint_copies(file, 0), (std::vector{Bytes{50}, Bytes{80}}));
  EXPECT_EQ(checkpoint_copies(file, 2), (std::vector{Bytes{150}, Bytes{240}}));
}

}  // namespace
}  // namespace pipedream::train
