// Checkpoints of the library, and trainings that go on from them.
#include <atomic>
#include <filesystem>

#include "core/testing.h"
#include "library/library_testing.h"

namespace pipedream::test {
namespace {

TEST(LibraryCheckpoints, GoOnToTheBitsOfTheUndisturbedTraining) {
  const TemporaryFolder scratch;
  const Network network = knotty();
  const Plan two = gpipe(network, {7});
  const Data data{samples(), samples(20, 2)};
  const auto options = [&](const char* folder, std::int64_t minibatches) {
    return TrainOptions{.minibatches = minibatches,
                        .optimiser = {.kind = "adam"},
                        .checkpoints = scratch.path() / folder,
                        .checkpoint_every = 7,
                        .keep = 100};
  };
  const Result whole = train(network, two, data, options("whole", 20));
  EXPECT_EQ(whole.minibatches, 20);
  EXPECT_EQ(whole.unsaved, "");
  const std::vector<Checkpoint> written = checkpoints(scratch.path() / "whole");
  ASSERT_EQ(written.size(), 3u);
  EXPECT_EQ(written[0].step, 7);
  EXPECT_EQ(written[0].damage, "");
  EXPECT_GT(written[0].bytes, 0);
  expect_same(load_checkpoint(written[2].path), whole.weights);

  (void)train(network, two, data, options("parts", 14));
  TrainOptions rest = options("parts", 20);
  rest.resume = rest.checkpoints;
  const Result resumed = train(network, two, data, rest);
  EXPECT_EQ(resumed.minibatches, 20);
  expect_same(resumed.weights, whole.weights);
  // Another plan has the same bits too: gpipe does not depend on it.
  TrainOptions other = options("other", 20);
  other.resume = written[1].path;
  expect_same(train(network, gpipe(network, {2, 9}), data, other).weights, whole.weights);
}

TEST(LibraryCheckpoints, RefuseWhatWouldBeAnotherTraining) {
  const TemporaryFolder scratch;
  const Network network = knotty();
  const Data data{samples(), {}};
  TrainOptions options{.minibatches = 4, .checkpoints = scratch.path()};
  (void)train(network, one_worker(network), data, options);
  EXPECT_NE(message_of([&] {
              (void)train(network, one_worker(network), data, options);
            }).find("has checkpoints already"),
            std::string::npos);
  options.resume = scratch.path();
  options.seed = 1;
  EXPECT_NE(message_of([&] {
              (void)train(network, one_worker(network), data, options);
            }).find("`seed` is 1 now and was 0"),
            std::string::npos);
  options.resume = scratch.path() / "absent";
  EXPECT_THROW((void)train(network, one_worker(network), data, options), CannotMeet);
}

TEST(LibraryCheckpoints, AreNotMixedWithThoseOfAnotherTraining) {
  const TemporaryFolder first;
  const TemporaryFolder second;
  const Network network = knotty();
  const Data data{samples(), {}};
  TrainOptions options{.minibatches = 8, .checkpoints = first.path()};
  options.checkpoint_every = 4;
  (void)train(network, one_worker(network), data, options);
  options.checkpoints = second.path();
  (void)train(network, one_worker(network), data, options);
  const auto refusal = [&] {
    return message_of([&] { (void)train(network, one_worker(network), data, options); });
  };
  options.minibatches = 12;
  options.resume = first.path();
  EXPECT_NE(refusal().find("has checkpoints already"), std::string::npos) << refusal();
  options.resume = checkpoints(second.path()).front().path;
  EXPECT_NE(refusal().find("has a checkpoint after step 4"), std::string::npos) << refusal();
  options.resume = second.path();
  EXPECT_EQ(train(network, one_worker(network), data, options).minibatches, 12);
}

TEST(LibraryCheckpoints, WhatStopThrowsIsThrown) {
  const TemporaryFolder scratch;
  const Network network = knotty();
  TrainOptions options{.minibatches = 100'000'000, .checkpoints = scratch.path()};
  options.stop = []() -> bool { throw std::runtime_error("no answer"); };
  EXPECT_EQ(message_of([&] {
              (void)train(network, gpipe(network, {7}), Data{samples(), {}}, options);
            }),
            "no answer");
}

TEST(LibraryCheckpoints, AreWrittenWhereATrainingIsStopped) {
  const TemporaryFolder scratch;
  const Network network = knotty();
  const Data data{samples(), {}};
  std::atomic<std::int64_t> steps = 0;
  TrainOptions options{.minibatches = 100'000'000, .checkpoints = scratch.path()};
  options.on_step = [&](const Step&) { ++steps; };
  options.stop = [&] { return steps > 50; };
  const Result stopped = train(network, gpipe(network, {7}), data, options);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_GT(stopped.minibatches, 50);
  EXPECT_EQ(checkpoints(scratch.path()).back().step, stopped.minibatches);
}

}  // namespace
}  // namespace pipedream::test
