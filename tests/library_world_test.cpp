// Tests the library's World under mpirun -n 2, where each process runs these tests. All processes
// get the same refusal, whichever of them refuses, and can continue with the same world.
#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "library/library_testing.h"

namespace pipedream::test {
namespace {

World* world = nullptr;  // made by main(), because a program has only one

void expect_all_trained(const Network& network, const Plan& planned) {
  const Result result = train(network, planned, {samples(), {}}, {.world = world});
  if (world->rank() == 0) {
    expect_same(result.weights, train(network, planned, {samples(), {}}).weights);
    EXPECT_EQ(result.memory.size(), 2U);
  }
}

class LibraryWorld : public testing::Test {
 protected:
  LibraryWorld()
      : network_(plain_chain()),
        planned_(plan(profile(network_, {.seconds = 0.01, .world = world}), 2,
                      {.system = "gpipe", .microbatches = 2, .split = {1}})) {}
  Network network_;
  Plan planned_;
};

TEST_F(LibraryWorld, CanBeUsedAgainAfterWhatAllRefuse) {
  expect_refused([&] { (void)profile(network_, {.seconds = -1, .world = world}); },
                 "seconds above 0");
  expect_refused([&] { (void)profile(network_, {.device = "none", .world = world}); },
                 "no device 'none'");
  expect_refused(
      [&] {
        (void)train(network_, planned_, {samples(), {}}, {.epochs = 0, .world = world});
      },
      "`epochs`: wanted 1 to");
  const Plan wide =
      plan(profile(network_, {.seconds = 0.01, .world = world}), 3, {.system = "dp-bsp"});
  EXPECT_THROW((void)train(network_, wide, {samples(), {}}, {.world = world}), CannotMeet);
  expect_all_trained(network_, planned_);
}

TEST_F(LibraryWorld, CanBeUsedAgainAfterWhatOneProcessRefuses) {
  for (const int rank : {0, 1}) {
    const std::int64_t epochs = world->rank() == rank ? 0 : 1;
    expect_refused(
        [&] {
          (void)train(network_, planned_, {samples(), {}}, {.epochs = epochs, .world = world});
        },
        "`epochs`: wanted 1 to");
  }
  const ProfileOptions only_first{.device = world->rank() == 0 ? "none" : "cpu", .world = world};
  expect_refused([&] { (void)profile(network_, only_first); }, "no device 'none'");
  expect_all_trained(network_, planned_);
}

// Must be the last test: the world cannot be used after a failure in training.
TEST_F(LibraryWorld, WhenOneFailsWhileItTrainsAllThrowItsFailure) {
  Samples failing = samples();
  failing.load = [load = failing.load, calls = std::make_shared<std::atomic<int>>(0)](
                     const std::string& input, const std::vector<std::int64_t>& numbers) {
    if (world->rank() == 1 && ++*calls > 6) throw std::runtime_error("the disk is gone");
    return load(input, numbers);
  };
  const std::string told = message_of([&] {
    (void)train(network_, planned_, {failing, {}}, {.epochs = 4, .world = world});
  });
  EXPECT_EQ(told.find("worker 1, "), 0U) << told;
  EXPECT_NE(told.find("the disk is gone"), std::string::npos) << told;
}

}  // namespace
}  // namespace pipedream::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  pipedream::World world;
  pipedream::test::world = &world;
  if (world.size() != 2) return 1;  // with another number the tests would prove nothing
  return RUN_ALL_TESTS();
}
