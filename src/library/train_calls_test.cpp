// What train() tells while it works, what it refuses, and how it fails.
#include "library/library_testing.h"

namespace pipedream::test {
namespace {

TEST(LibraryTraining, TellsOfEveryMinibatchAndEpoch) {
  const Network network = plain_chain();
  std::vector<std::int64_t> minibatches;
  std::vector<std::int64_t> epochs;
  const Result result =
      train(network, gpipe(network, {1}), {samples(), samples(10, 2)},
            {.epochs = 2,
             .on_step = [&](const Step& step) { minibatches.push_back(step.minibatch); },
             .on_evaluation = [&](const Evaluation& done) { epochs.push_back(done.epoch); }});
  EXPECT_EQ(minibatches, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(epochs, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(result.minibatches, 10);
}

TEST(LibraryTraining, ALossOfAnyInputsCanBeEvaluated) {
  Builder net("n");
  const Value x = net.input("x", {6});
  Value h = net.add("fc", linear(6, 6), {x});
  h = net.add("difference", [](Tensor a, Tensor b) { return (a - b).square().mean(1); }, {h, x});
  const Network network = net.build(net.add("loss", [](Tensor in) { return in.mean(); }, {h}), 4);
  const Data data{samples(100), samples(10, 2)};
  const Result result = train(network, one_worker(network), data, {.epochs = 3});
  ASSERT_TRUE(result.held_out);
  EXPECT_FALSE(result.held_out->accuracy);
  EXPECT_LT(result.held_out->loss, 1.2);
}

TEST(LibraryTraining, LabelsPerPixelAreEvaluatedWithoutAnAccuracy) {
  Builder net("n");
  const Value x = net.input("x", {6});
  const Value labels = net.input("labels", {4}, torch::kLong, 3);
  Value h = net.add("fc", linear(6, 12), {x});
  h = net.add("image",
              [](Tensor in) {
                return in.view({-1, 3, 4});
              },
              {h});  // the class dimension comes before the pixels
  const Network network = net.build(net.add("loss", cross_entropy, {h, labels}), 4);
  const Samples data = in_memory(
      {{"x", torch::ones({9, 6})}, {"labels", torch::arange(36).remainder(3).view({9, 4})}});
  const Result result = train(network, one_worker(network), {data, data});
  ASSERT_TRUE(result.held_out);
  EXPECT_FALSE(result.held_out->accuracy);
  EXPECT_FALSE(result.held_out->perplexity);
}

TEST(LibraryTraining, RefusesDataThatDoNotFitTheInputs) {
  const Network network = plain_chain();
  const Plan planned = one_worker(network);
  const auto with = [&](const Samples& data) { (void)train(network, planned, {data, {}}); };
  const Tensor labels = torch::zeros({4}, torch::kLong);
  expect_refused([&] { with({}); }, "no samples to train on");
  expect_refused(
      [&] {
        with(in_memory({{"x", torch::zeros({4, 5})}, {"labels", labels}}));
      },
      "input 'x' must be Float [N, 6]; for 1 of them Float [1, 5] was found");
  expect_refused(
      [&] {
        with(in_memory({{"x", torch::zeros({4, 6})}, {"label", labels}}));
      },
      "no samples for input 'labels' (did you mean 'label'?)");
  expect_refused(
      [&] {
        (void)in_memory({{"x", torch::zeros({4, 6})}, {"y", torch::zeros({3})}});
      },
      "input 'y' has 3 samples, and 'x' has 4");
}

TEST(LibraryTraining, RefusesOptionsThatMakeNoSense) {
  const Network network = plain_chain();
  const Profile measured = quick_profile(network);
  const Plan planned = plan(measured, 1, {.system = "mp", .stages = 1});
  const auto with = [&](const TrainOptions& options) {
    (void)train(network, planned, {samples(), {}}, options);
  };
  expect_refused([&] { with({.epochs = 0}); }, "`epochs`: wanted 1 to");
  expect_refused([&] { with({.minibatches = INT64_MAX}); }, "`minibatches`: wanted 1 to");
  expect_refused([&] { with({.optimiser = {.kind = "adagrad"}}); }, "no optimiser 'adagrad'");
  expect_refused([&] { with({.no_stash = true}); }, "`no_stash` is for pipedream");
  expect_refused([&] { (void)plan(measured, 0); }, "wanted 1 to");
  expect_refused([&] { (void)plan(measured, 2, {.system = "pipedraem"}); },
                 "did you mean 'pipedream'?");
  expect_refused([&] { (void)plan(measured, 2, {.prefer = "sped"}); },
                 "`prefer`: there is no 'sped' (did you mean 'speed'?)");
  expect_refused([&] { (void)plan(measured, 2, {.system = "mp", .prefer = ""}); },
                 "`prefer`: there is no ''");
  expect_refused([&] { (void)profile(network, {.seconds = -1}); }, "seconds above 0");
  expect_refused([&] { (void)profile(network, {.device = "gpu"}); }, "no device 'gpu'");
  expect_refused([&] { (void)plan(measured, 2, {.system = "gpipe", .split = {9}}); }, "`split`");
  EXPECT_THROW((void)plan(measured, 2, {.memory = 1}), CannotMeet);
}

TEST(LibraryTraining, WhatACallbackThrowsIsAnError) {
  const Network network = plain_chain();
  const std::string message = message_of([&] {
    (void)train(network, one_worker(network), {samples(), {}},
                {.on_step = [](const Step&) { throw 7; }});
  });
  EXPECT_NE(message.find("no std::exception"), std::string::npos) << message;
}

TEST(LibraryTraining, WhatFailsInALayerNamesIt) {
  Builder net("n");
  const Value x = net.input("x", {6});
  const Value labels = net.input("labels", {}, torch::kLong, 3);
  Value h = net.add("fc", linear(6, 3), {x});
  h = net.add("choosy",
              [](Tensor in) {
                if (in.size(0) == 5) throw std::runtime_error("five samples");
                return in.relu();
              },
              {h});
  const Network network = net.build(net.add("loss", cross_entropy, {h, labels}), 10);
  const std::string message = message_of([&] {
    (void)train(network, plan(quick_profile(network), 1, {.system = "mp", .stages = 1}),
                {samples(15), {}});
  });
  EXPECT_NE(message.find("worker 0"), std::string::npos) << message;
  EXPECT_NE(message.find("layer 'choosy': five samples"), std::string::npos) << message;
}

TEST(LibraryTraining, WhatACallbackThrowsEndsIt) {
  const Network network = plain_chain();
  const std::string message = message_of([&] {
    (void)train(network, gpipe(network, {1}), {samples(), {}},
                {.on_step = [](const Step&) { throw std::runtime_error("that will do"); }});
  });
  EXPECT_NE(message.find("that will do"), std::string::npos) << message;
}

TEST(LibraryTraining, ALossThatIsNotFiniteStopsIt) {
  const Network network = plain_chain();
  EXPECT_THROW((void)train(network, one_worker(network), {samples(), {}},
                           {.epochs = 50, .optimiser = {.kind = "sgd", .learning_rate = 1e30}}),
               TrainingStopped);
}

}  // namespace
}  // namespace pipedream::test
