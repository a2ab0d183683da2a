// pipedream on a GPU, as a user calls it.
#include "train_command_line_testing.h"

namespace pipedream {
namespace {

// More workers than any machine has GPUs, so the program says that workers share GPUs.
constexpr int kWorkers = 33;

TEST(GpuCommands, TheDeviceComesFromThePlanUnlessAnotherIsAskedFor) {
  const std::string mlp = "--model mlp --inputs 20 --hidden 16 --batch 16 ";
  const std::string profile = scratch("gpu_profile.json").string();
  const Answer profiled =
      call_with("", "profile " + mlp + "--device cuda --seconds 0.2 -o " + profile);
  if (profiled.err.find("and 0 CUDA devices were found") != std::string::npos)
    GTEST_SKIP() << "no GPU found by libtorch: left out";
  ASSERT_EQ(profiled.code, 0) << profiled.err;
  const auto run = [](const std::string& arguments) {
    const Answer answer = call_with("", arguments);
    EXPECT_EQ(answer.code, 0) << answer.err;
    return answer;
  };
  const std::string cluster = cluster_of("GPUs", {kWorkers});
  const std::string plan = scratch("gpu_plan.json").string();
  (void)run("plan --system dp-bsp --profile " + profile + " --cluster " + cluster + " -o " + plan);
  EXPECT_EQ(nlohmann::json::parse(read_file(plan)).at("device"), "cuda");

  const std::string train =
      "train " + mlp + "--minibatches 6 --workers " + std::to_string(kWorkers) + " --plan " + plan;
  EXPECT_NE(run(train).err.find(" GPU"), std::string::npos);
  EXPECT_EQ(run(train + " --device cpu").err.find(" GPU"), std::string::npos);
}

}  // namespace
}  // namespace pipedream
