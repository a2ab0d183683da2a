// The library as its users see it: by its public header alone.
#include <mutex>

#include <gtest/gtest.h>
#include <pipedream/pipedream.h>

namespace {

using namespace pipedream;
using torch::Tensor;

constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kSamples = 36;  // the last minibatch of an epoch is short

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

void expect_refused(const std::function<void()>& action, const std::string& message) {
  EXPECT_THROW(action(), BadUsage);
  EXPECT_NE(message_of(action).find(message), std::string::npos) << message_of(action);
}

auto linear(std::int64_t in, std::int64_t out) {
  return [=] { return torch::nn::Linear(in, out); };
}
Tensor cross_entropy(const Tensor& scores, const Tensor& labels) {
  return torch::cross_entropy_loss(scores, labels);
}

// Two inputs that need each other, a value that three layers use, a layer with two outputs, one
// that takes a value twice, running averages, and random numbers.
Network knotty(bool with_dropout = true) {
  Builder net("knotty");
  const Value x = net.input("x", {6});
  const Value labels = net.input("labels", {}, torch::kLong, 3);
  const Value first = net.add("first", linear(6, 8), {x});
  Value h = net.add("norm", [] { return torch::nn::BatchNorm1d(8); }, {first});
  h = net.add("relu", torch::relu, {h});
  if (with_dropout) h = net.add("drop", [] { return torch::nn::Dropout(0.25); }, {h});
  const Value halves = net.add("halves", [](const Tensor& in) { return in.chunk(2, 1); }, {h});
  h = net.add("joined", [](const std::vector<Tensor>& in) { return torch::cat(in, 1); },
              {net.output(halves, 1), net.output(halves, 0)});
  h = net.add("square", [](Tensor a, Tensor b) { return a * b; }, {h, h});
  h = net.add("sum", [](Tensor a, Tensor b, Tensor c) { return a + b + c; }, {h, first, first});
  h = net.add("skip", [](Tensor a, Tensor b) { return std::tuple(a + b, b); }, {h, first});
  h = net.add("last",
              [] {
                return torch::nn::Sequential(torch::nn::Linear(8, 8), torch::nn::Tanh(),
                                             torch::nn::Linear(8, 3));
              },
              {h});
  return net.build(net.add("loss", cross_entropy, {h, labels}), kBatch);
}

Network plain_chain() {
  Builder net("chain");
  const Value x = net.input("x", {6});
  const Value labels = net.input("labels", {}, torch::kLong, 3);
  Value h = net.add("a", linear(6, 8), {x});
  h = net.add("b", linear(8, 3), {h});
  return net.build(net.add("loss", cross_entropy, {h, labels}), kBatch);
}

// What can be learned: the label is the largest of three sums.
Samples samples(std::int64_t count = kSamples, std::int64_t seed = 1) {
  const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const Tensor x = torch::randn({count, 6}, generator);
  return in_memory({{"x", x}, {"labels", x.view({count, 3, 2}).sum(2).argmax(1)}});
}

Profile quick_profile(const Network& network) { return profile(network, {.seconds = 0.01}); }

// On so many stages, all with two microbatches; where the cuts are does not depend on timing.
Plan gpipe(const Network& network, const std::vector<int>& split, bool recompute = true) {
  return plan(quick_profile(network), static_cast<int>(split.size()) + 1,
              {.system = "gpipe",
               .recompute = recompute,
               .microbatches = 2,
               .stages = split.empty() ? std::optional(1) : std::nullopt,
               .split = split});
}

Plan one_worker(const Network& network) {
  return plan(quick_profile(network), 1, {.system = "mp", .stages = 1});
}

void expect_same(const Weights& one, const Weights& other) {
  ASSERT_EQ(one.size(), other.size());
  for (const auto& [name, tensor] : one) {
    ASSERT_TRUE(other.contains(name)) << name;
    EXPECT_TRUE(torch::equal(tensor, other.at(name))) << name;
  }
}

TEST(LibraryBuilder, RefusesANameThatIsTaken) {
  Builder net("n");
  const Value x = net.input("x", {4});
  (void)net.add("fc", linear(4, 4), {x});
  expect_refused([&] { (void)net.add("fc", linear(4, 4), {x}); }, "two layers 'fc'");
  expect_refused([&] { (void)net.input("fc", {4}); }, "two layers 'fc'");
  expect_refused([&] { (void)net.input("", {4}); }, "has no name");
}

TEST(LibraryBuilder, RefusesAValueThatIsNotItsOwn) {
  Builder net("n");
  Builder other("o");
  const Value stranger = other.input("x", {4});
  expect_refused([&] { (void)net.add("fc", linear(4, 4), {stranger}); },
                 "layer 'fc': its input 0 is no value of the network 'n'");
  expect_refused([&] { (void)net.add("fc", linear(4, 4), {Value()}); }, "layer 'fc'");
  expect_refused([&] { (void)net.build(stranger, 1); }, "the loss is no value");
  expect_refused([&] { (void)net.add("fc", linear(4, 4), {}); }, "reads no value");
}

TEST(LibraryBuilder, SaysWhichLayerDoesNotFitWhichShapes) {
  Builder net("n");
  const Value x = net.input("x", {4});
  expect_refused([&] { (void)net.add("fc2", linear(5, 4), {x}); },
                 "layer 'fc2': it cannot be run on 'x' Float [N, 4]: ");
  expect_refused(
      [&] {
        (void)net.add("fc2", linear(4, 4), {x, x});
      },
      "layer 'fc2': it does not take 2 inputs");
}

TEST(LibraryBuilder, RefusesValuesWithoutSamplesAlongTheirFirstDimension) {
  Builder net("n");
  const Value x = net.input("x", {4, 2});
  const Value flat = net.add("flat", [](Tensor in) { return in.flatten(); }, {x});
  expect_refused([&] { (void)net.add("next", torch::relu, {flat}); },
                 "layer 'next': its input 0, 'flat' Float [16] for 2 samples, does not have");
  const Value fixed = net.add("fixed", [](Tensor in) { return in.slice(0, 0, 2); }, {x});
  expect_refused([&] { (void)net.add("next", torch::relu, {fixed}); }, "layer 'next'");
}

TEST(LibraryBuilder, RefusesALayerThatWritesIntoItsInput) {
  Builder net("n");
  const Value x = net.input("x", {4});
  const auto in_place = [] { return torch::nn::ReLU(torch::nn::ReLUOptions(true)); };
  expect_refused([&] { (void)net.add("relu", in_place, {x}); },
                 "layer 'relu': it writes into its input 0, 'x' Float [N, 4]");
}

TEST(LibraryBuilder, RefusesFactoriesThatDoNotMakeNewEqualModules) {
  Builder net("n");
  const Value x = net.input("x", {4});
  const torch::nn::Linear one(4, 4);
  expect_refused([&] { (void)net.add("fc", [one] { return one; }, {x}); }, "the same module again");
  int made = 0;
  const auto changing = [&made] {
    torch::nn::Linear fc(4, 4);
    const torch::NoGradGuard no_grad;
    fc->bias.fill_(++made);
    return fc;
  };
  expect_refused([&] { (void)net.add("fc", changing, {x}); }, "different values of 'bias'");
  expect_refused([&] { (void)net.add("fc", [] { return torch::nn::Linear(nullptr); }, {x}); },
                 "layer 'fc'");
}

TEST(LibraryBuilder, RefusesANetworkThatIsNotWhole) {
  Builder net("n");
  const Value x = net.input("x", {4});
  const Value sum = net.add("sum", [](Tensor in) { return in.mean(); }, {x});
  expect_refused([&] { (void)net.build(sum, 4); }, "has no weights to learn");
  const Value fc = net.add("fc", linear(4, 4), {x});
  expect_refused([&] { (void)net.build(sum, 4); }, "layer 'fc' leads nowhere");
  expect_refused([&] { (void)net.build(fc, 4); },
                 "the loss of the network 'n' must be one Float number, found 'fc' Float [2, 4]");
  const Value loss = net.add("loss", [](Tensor a, Tensor) { return a.mean(); }, {fc, x});
  expect_refused([&] { (void)net.build(loss, 4); }, "layer 'sum' leads nowhere");
}

TEST(LibraryBuilder, RefusesTensorsThatHaveOneName) {
  Builder net("n");
  Value x = net.input("x", {4});
  x = net.add("a", [] { return torch::nn::Sequential(torch::nn::Linear(4, 4)); }, {x});
  x = net.add("a.0", linear(4, 4), {x});
  x = net.add("loss", [](Tensor in) { return in.mean(); }, {x});
  expect_refused([&] { (void)net.build(x, 4); }, "both have a tensor 'a.0.weight'");
}

TEST(LibraryBuilder, RefusesInputsAndOutputsThatCannotBe) {
  Builder net("n");
  expect_refused([&] { (void)net.input("labels", {}, torch::kLong); }, "whole numbers need");
  expect_refused([&] { (void)net.input("x", {4, 0}); }, "input 'x': wanted sides from 1 on");
  const Value x = net.input("x", {4});
  const Value fc = net.add("fc", linear(4, 4), {x});
  expect_refused([&] { (void)net.output(fc, 1); }, "it has 1 outputs, and number 1");
  expect_refused([&] { (void)net.weight(fc, "wieght"); }, "did you mean 'weight'?");
}

TEST(LibraryBuilder, LeavesTorchsGlobalGeneratorAsItWas) {
  torch::manual_seed(7);
  const Tensor wanted = torch::rand({4});
  torch::manual_seed(7);
  const Network network = knotty();
  (void)network.initial_weights(1);
  (void)train(network, one_worker(network), {samples(), {}});
  EXPECT_TRUE(torch::equal(torch::rand({4}), wanted));
}

TEST(LibraryNetwork, SaysWhatItIs) {
  const Network network = plain_chain();
  EXPECT_EQ(network.name(), "chain");
  EXPECT_EQ(network.batch(), kBatch);
  EXPECT_EQ(network.parameter_count(), 6 * 8 + 8 + 8 * 3 + 3);
  EXPECT_EQ(network.layers(), (std::vector<std::string>{"a", "b", "loss"}));
}

TEST(LibraryNetwork, BeginsWithWeightsThatDependOnSeedAndLayerAlone) {
  const Network network = knotty();
  expect_same(network.initial_weights(3), network.initial_weights(3));
  EXPECT_FALSE(torch::equal(network.initial_weights(3).at("first.weight"),
                            network.initial_weights(4).at("first.weight")));
  const Weights weights = plain_chain().initial_weights();
  EXPECT_FALSE(torch::equal(weights.at("a.weight").view(-1).slice(0, 0, 24),
                            weights.at("b.weight").view(-1)));
}

TEST(LibraryNetwork, BeginsWithTheWeightsThatItIsGiven) {
  const Network network = plain_chain();
  const Weights wanted = network.initial_weights(9);
  const Network begun = network.with_weights({{"a.weight", wanted.at("a.weight")}});
  EXPECT_TRUE(torch::equal(begun.initial_weights(0).at("a.weight"), wanted.at("a.weight")));
  EXPECT_TRUE(torch::equal(begun.initial_weights(0).at("b.weight"),
                           network.initial_weights(0).at("b.weight")));
  expect_refused(
      [&] {
        (void)network.with_weights({{"a.wait", torch::zeros({1})}});
      },
      "has no tensor 'a.wait' (did you mean 'a.weight'?)");
  expect_refused(
      [&] {
        (void)network.with_weights({{"a.bias", torch::zeros({9})}});
      },
      "'a.bias' of the network 'chain' is [8], and Float [9] was given");
}

TEST(LibraryTraining, GivesTheSameBitsOnOneTwoAndThreeStages) {
  const Network network = knotty();
  const TrainOptions options{.epochs = 2, .optimiser = {.kind = "adam"}};
  const Data data{samples(), samples(20, 2)};
  const Result one = train(network, gpipe(network, {}), data, options);
  for (const std::vector<int>& split : {std::vector{4}, {7}, {2, 9}, {3, 5}}) {
    const Result more = train(network, gpipe(network, split), data, options);
    expect_same(one.weights, more.weights);
    EXPECT_EQ(one.loss, more.loss);
    EXPECT_EQ(one.held_out->loss, more.held_out->loss);
  }
}

TEST(LibraryTraining, GivesTheSameBitsWhetherItRecomputesOrNot) {
  const Network network = knotty();
  expect_same(train(network, gpipe(network, {5}, true), {samples(), {}}).weights,
              train(network, gpipe(network, {5}, false), {samples(), {}}).weights);
}

// Which samples each minibatch had.
class Recorded {
 public:
  [[nodiscard]] Samples of(const Samples& samples) {
    return {samples.count, [this, load = samples.load](const std::string& input,
                                                       const std::vector<std::int64_t>& numbers) {
              const std::scoped_lock lock(mutex_);
              if (input == "x") minibatches_.push_back(numbers);
              return load(input, numbers);
            }};
  }
  // Without the one that train() looks at first.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> minibatches() const {
    return {minibatches_.begin() + 1, minibatches_.end()};
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::int64_t>> minibatches_;
};

TEST(LibraryTraining, OneWorkerIsThePlainLoopOfLibtorch) {
  torch::set_num_threads(1);
  const Network network = knotty(/*with_dropout=*/false);
  Recorded recorded;
  const Samples data = samples();
  std::vector<double> losses;
  const Result result =
      train(network, one_worker(network), {recorded.of(data), {}},
            {.epochs = 3,
             .optimiser = {.kind = "momentum", .learning_rate = 0.1, .momentum = 0.9},
             .on_step = [&](const Step& step) { losses.push_back(step.loss); }});
  torch::nn::Linear first(6, 8);
  torch::nn::BatchNorm1d norm(8);
  torch::nn::Sequential last(torch::nn::Linear(8, 8), torch::nn::Tanh(), torch::nn::Linear(8, 3));
  std::map<std::string, std::shared_ptr<torch::nn::Module>> modules{
      {"first", first.ptr()}, {"norm", norm.ptr()}, {"last", last.ptr()}};
  std::vector<Tensor> parameters;
  Weights plain;
  for (const auto& [name, module] : modules) {
    for (const auto& each : module->named_parameters())
      parameters.push_back(plain[name + "." + each.key()] = each.value());
    for (const auto& each : module->named_buffers()) plain[name + "." + each.key()] = each.value();
  }
  {
    const torch::NoGradGuard no_grad;
    const Weights initial = network.initial_weights();
    for (auto& [name, tensor] : plain) tensor.copy_(initial.at(name));
  }
  torch::optim::SGD optimiser(parameters, torch::optim::SGDOptions(0.1).momentum(0.9));
  std::vector<double> wanted;
  for (const auto& numbers : recorded.minibatches()) {
    const Tensor begun = first(data.load("x", numbers));
    Tensor h = torch::relu(norm(begun));
    const auto halves = h.chunk(2, 1);
    h = torch::cat({halves[1], halves[0]}, 1);
    h = h * h + begun + begun + begun;
    const Tensor loss = cross_entropy(last->forward(h), data.load("labels", numbers));
    optimiser.zero_grad();
    loss.backward();
    optimiser.step();
    wanted.push_back(loss.item<double>());
  }
  EXPECT_EQ(losses, wanted);
  expect_same(result.weights, plain);
}

// An embedding whose matrix the decoder shares.
Network tied() {
  Builder net("tied");
  const Value word = net.input("x", {3}, torch::kLong, 5);
  const Value labels = net.input("labels", {3}, torch::kLong, 5);
  Value h = net.add("words", [] { return torch::nn::Embedding(5, 4); }, {word});
  const Value matrix = net.weight(h, "weight");
  h = net.add("mix", linear(4, 4), {h});
  h = net.add("decoder", [](Tensor in, Tensor weight) { return torch::linear(in, weight); },
              {h, matrix});
  return net.build(net.add("loss",
                           [](Tensor scores, Tensor of) {
                             return torch::cross_entropy_loss(scores.flatten(0, 1), of.flatten());
                           },
                           {h, labels}),
                   kBatch);
}

TEST(LibraryTraining, LayersThatShareAWeightLearnOneTensorWhereverTheyAre) {
  torch::set_num_threads(1);
  const Network network = tied();
  const Tensor words = torch::arange(kSamples * 3).view({kSamples, 3});
  const Samples data = in_memory({{"x", words % 5}, {"labels", (words + 1) % 5}});
  const Plan together = one_worker(network);
  const Plan apart =
      plan(quick_profile(network), 3, {.system = "gpipe", .microbatches = 1, .split = {1, 2}});
  EXPECT_EQ(apart.config(), "1-1-1");
  const Result one = train(network, together, {data, {}});
  expect_same(one.weights, train(network, apart, {data, {}}).weights);
  EXPECT_FALSE(
      torch::equal(one.weights.at("words.weight"), network.initial_weights().at("words.weight")));
  EXPECT_EQ(one.weights.size(), 3U);
}

TEST(LibraryTraining, AnLstmTrainsLikeAnyOtherModule) {
  Builder net("n");
  const Value x = net.input("x", {6});
  const Value labels = net.input("labels", {}, torch::kLong, 3);
  Value h = net.add("words", [](Tensor in) { return in.view({-1, 3, 2}); }, {x});
  const auto lstm = [] { return torch::nn::LSTM(torch::nn::LSTMOptions(2, 5).batch_first(true)); };
  h = net.add("lstm", lstm, {h});  // its states are outputs that nobody uses
  h = net.add("end", [](Tensor in) { return in.select(1, 2); }, {h});
  h = net.add("fc", linear(5, 3), {h});
  const Network network = net.build(net.add("loss", cross_entropy, {h, labels}), kBatch);
  const Result one = train(network, gpipe(network, {}), {samples(), {}});
  expect_same(one.weights, train(network, gpipe(network, {2}), {samples(), {}}).weights);
  EXPECT_FALSE(torch::equal(one.weights.at("lstm.weight_hh_l0"),
                            network.initial_weights().at("lstm.weight_hh_l0")));
}

TEST(LibraryTraining, LearnsOnReplicasAndWithoutFlushes) {
  const Network network = plain_chain();
  const Data data{samples(600), samples(300, 2)};
  const TrainOptions options{.epochs = 5, .optimiser = {.kind = "adam", .learning_rate = 0.02}};
  for (const char* system : {"dp-bsp", "pipedream"}) {
    const Result result =
        train(network, plan(quick_profile(network), 2, {.system = system}), data, options);
    ASSERT_TRUE(result.held_out);
    EXPECT_GT(result.held_out->accuracy.value(), 0.8) << system;
    EXPECT_EQ(result.memory.size(), 2U) << system;
    EXPECT_NE(result.table.find(system), std::string::npos) << result.table;
    EXPECT_EQ(result.table.find(" –"), std::string::npos) << "memory is predicted\n"
                                                          << result.table;
  }
}

TEST(LibraryTraining, AModuleMayBeAnyModuleOrAPointer) {
  Builder net("n");
  const Value x = net.input("x", {6});
  const Value labels = net.input("labels", {}, torch::kLong, 3);
  Value h = net.add("any", [] { return torch::nn::AnyModule(torch::nn::Linear(6, 8)); }, {x});
  h = net.add("pointer", [] { return std::make_shared<torch::nn::LinearImpl>(8, 3); }, {h});
  const Network network = net.build(net.add("loss", cross_entropy, {h, labels}), kBatch);
  const Network same = plain_chain();
  Weights weights;
  for (const auto& [name, tensor] : same.initial_weights())
    weights[(name[0] == 'a' ? "any" : "pointer") + name.substr(1)] = tensor;
  const Result result = train(network.with_weights(weights), one_worker(network), {samples(), {}});
  EXPECT_TRUE(torch::equal(result.weights.at("pointer.bias"),
                           train(same, one_worker(same), {samples(), {}}).weights.at("b.bias")));
}

TEST(LibraryTraining, FrozenParametersStayAsTheyAre) {
  Builder net("n");
  const Value x = net.input("x", {6});
  const Value labels = net.input("labels", {}, torch::kLong, 3);
  Value h = net.add("frozen",
                    [] {
                      torch::nn::Linear fc(6, 8);
                      for (Tensor& each : fc->parameters()) each.set_requires_grad(false);
                      return fc;
                    },
                    {x});
  h = net.add("fc", linear(8, 3), {h});
  const Network network = net.build(net.add("loss", cross_entropy, {h, labels}), kBatch);
  EXPECT_EQ(network.parameter_count(), 8 * 3 + 3);
  const Result result = train(network, gpipe(network, {1}), {samples(), {}},
                              {.optimiser = {.kind = "momentum", .weight_decay = 0.1}});
  const Weights before = network.initial_weights();
  EXPECT_TRUE(torch::equal(result.weights.at("frozen.weight"), before.at("frozen.weight")));
  EXPECT_FALSE(torch::equal(result.weights.at("fc.weight"), before.at("fc.weight")));
}

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
              {h});  // classes before pixels
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
  expect_refused([&] { with({.epochs = 0}); }, "at least one epoch");
  expect_refused([&] { with({.optimiser = {.kind = "adagrad"}}); }, "no optimiser 'adagrad'");
  expect_refused([&] { with({.no_stash = true}); }, "--no-stash is for pipedream");
  expect_refused([&] { (void)plan(measured, 0); }, "wanted 1 to");
  expect_refused([&] { (void)plan(measured, 2, {.system = "pipedraem"}); },
                 "did you mean 'pipedream'?");
  expect_refused([&] { (void)profile(network, {.seconds = -1}); }, "seconds above 0");
  expect_refused([&] { (void)profile(network, {.device = "gpu"}); }, "no device 'gpu'");
  expect_refused([&] { (void)plan(measured, 2, {.system = "gpipe", .split = {9}}); }, "--split");
  EXPECT_THROW((void)plan(measured, 2, {.memory = 1}), CannotMeet);
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

// Of each test its own.
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
  expect_same(train(network, read, {samples(), {}}).weights,
              train(network, planned, {samples(), {}}).weights);
  EXPECT_THROW((void)Plan::load(scratch("plan.json"), plain_chain()), BadFile);
  EXPECT_THROW((void)train(plain_chain(), planned, {samples(), {}}), Error);
  EXPECT_THROW((void)Profile::load(scratch("plan.json")), BadFile);
  EXPECT_THROW((void)Profile::load(scratch("absent.json")), IoError);
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
