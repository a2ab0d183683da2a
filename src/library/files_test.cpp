// Profiles, plans and weights in files, and the World of a program that was not started by mpirun.
#include "core/file.h"
#include "library/library_testing.h"

namespace pipedream::test {
namespace {

// The path of a file. Each test has its own.
std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) /
         (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + name);
}

TEST(LibraryFiles, ProfilesAndPlansComeBackAsTheyWere) {
  const Network network = knotty();
  const Profile measured = quick_profile(network);
  measured.save(scratch("profile.json"));
  const Profile again = Profile::load(scratch("profile.json"));
  EXPECT_EQ(again.table(), measured.table());
  const PlanOptions options{.system = "gpipe", .microbatches = 2, .split = {3, 6}};
  const Plan planned = plan(measured, 3, options);
  EXPECT_EQ(plan(again, 3, options).table(), planned.table());
  planned.save(scratch("plan.json"));
  const Plan read = Plan::load(scratch("plan.json"), network);
  EXPECT_EQ(read.table(), planned.table());
  EXPECT_EQ(read.config(), "1-1-1");
  EXPECT_EQ(read.system(), "gpipe");
  EXPECT_EQ(read.workers(), 3);
  EXPECT_EQ(read.samples_per_second(), planned.samples_per_second());
  ASSERT_TRUE(planned.simulated_samples_per_second());
  EXPECT_GT(*planned.simulated_samples_per_second(), 0);
  EXPECT_EQ(read.simulated_samples_per_second(), planned.simulated_samples_per_second());
  expect_same(train(network, read, {samples(), {}}).weights,
              train(network, planned, {samples(), {}}).weights);
  EXPECT_THROW((void)Plan::load(scratch("plan.json"), plain_chain()), BadFile);
  EXPECT_THROW((void)train(plain_chain(), planned, {samples(), {}}), Error);
  EXPECT_THROW((void)Profile::load(scratch("plan.json")), BadFile);
  EXPECT_THROW((void)Profile::load(scratch("absent.json")), IoError);
}

TEST(LibraryFiles, APlanForThisMachineIsOfTheKindOfDeviceThatWasMeasured) {
  quick_profile(plain_chain()).save(scratch("profile.json"));
  std::string text = read_file(scratch("profile.json"));
  const std::string cpu = "\"device\": \"cpu\"";
  ASSERT_NE(text.find(cpu), std::string::npos) << text;
  text.replace(text.find(cpu), cpu.size(), "\"device\": \"cuda:99\"");
  write_file_atomically(scratch("gpu.json"), text);
  const Profile elsewhere = Profile::load(scratch("gpu.json"));
  const auto plan_here = [&] { (void)plan(elsewhere, 2); };
  if (torch::cuda::is_available()) {
    EXPECT_NO_THROW(plan_here()) << "any GPU of this machine will do";
  } else {
    EXPECT_THROW(plan_here(), CannotMeet);
    EXPECT_NE(message_of(plan_here).find("on a GPU, and this machine has none: give a `cluster`"),
              std::string::npos)
        << message_of(plan_here);
  }
  EXPECT_EQ(plan(elsewhere, Cluster::this_machine(2), {.system = "gpipe"}).workers(), 2);
}

// The profile file of a chain of four equal layers: 1 ms forward, 2 ms backward, small weights.
std::string profile_of_equal_layers() {
  std::string layers = R"({"name": "x", "input": true, "outputs": [{"name": "out", "bytes": 1}]})";
  std::string edges;
  std::string before = "x";
  for (const std::string name : {"a", "b", "c", "d"}) {
    layers += R"(, {"name": ")" + name +
              R"(", "kind": "", "forward": 0.001, "backward": 0.002, "weight_bytes": 10, )"
              R"("stash_bytes": 0, "outputs": [{"name": "out", "bytes": 1}]})";
    edges += edges.empty() ? "" : ", ";
    edges += R"({"from": ")" + before + R"(", "to": ")" + name + R"("})";
    before = name;
  }
  return R"({"format": "pipedream-profile", "version": 1, "model": "chain", "batch": 64, )"
         R"("layers": [)" +
         layers + R"(], "edges": [)" + edges + "]}";
}

// On four workers pipedream is never idle. dapple is the fastest system without stale weights and
// without replicas; it is idle for 3/7 of the time with 4 microbatches and for 3/19 with 16.
TEST(LibraryFiles, PreferSaysWhetherAutoMayTakeStaleWeights) {
  write_file_atomically(scratch("profile.json"), profile_of_equal_layers());
  const Profile chain = Profile::load(scratch("profile.json"));
  const auto chosen = [&](int microbatches, const std::string& prefer) {
    return plan(chain, 4, {.straight = true, .microbatches = microbatches, .prefer = prefer})
        .system();
  };
  EXPECT_EQ(chosen(4, "exact"), "dapple");
  EXPECT_EQ(chosen(4, "balanced"), "pipedream");
  EXPECT_EQ(chosen(4, "speed"), "pipedream");
  EXPECT_EQ(chosen(16, "exact"), "dapple");
  EXPECT_EQ(chosen(16, "balanced"), "dapple");
  EXPECT_EQ(chosen(16, "speed"), "pipedream");
  const PlanOptions by_default{.straight = true, .microbatches = 16};
  EXPECT_EQ(plan(chain, 4, by_default).system(), "dapple");
}

// With four minibatches of four microbatches per update, dapple flushes as rarely as with 16.
TEST(LibraryFiles, AccumulationReachesThePlan) {
  write_file_atomically(scratch("profile.json"), profile_of_equal_layers());
  const Profile chain = Profile::load(scratch("profile.json"));
  const PlanOptions options{.straight = true, .microbatches = 4, .accumulate = 4};
  EXPECT_EQ(plan(chain, 4, options).system(), "dapple");
  EXPECT_THROW((void)plan(chain, 4, {.accumulate = 0}), BadUsage);
  EXPECT_THROW((void)plan(chain, 4, {.system = "dp-asp", .accumulate = 2}), BadUsage);
}

TEST(LibraryFiles, WeightsComeBackAsTheyWere) {
  const Weights weights = knotty().initial_weights();
  save_weights(scratch("weights.safetensors"), weights);
  expect_same(load_weights(scratch("weights.safetensors")), weights);
}

TEST(LibraryWorld, PlainlyStartedIsAWorldOfOne) {
  World world;
  EXPECT_EQ(world.rank(), 0);
  EXPECT_EQ(world.size(), 1);
  const Network network = plain_chain();
  const Plan planned = plan(profile(network, {.seconds = 0.01, .world = &world}), 2,
                            {.system = "gpipe", .split = {1}});
  EXPECT_EQ(train(network, planned, {samples(), {}}, {.world = &world}).memory.size(), 2U);
}

}  // namespace
}  // namespace pipedream::test
