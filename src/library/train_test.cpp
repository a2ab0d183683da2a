// Networks with all kinds of layers train to the same bits, whatever the plan.
#include <mutex>

#include "library/library_testing.h"

namespace pipedream::test {
namespace {

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

TEST(LibraryTraining, ComputesInBfloat16WhereThatIsAskedFor) {
  const Network network = knotty();
  const Plan planned = plan(profile(network, {.seconds = 0.01, .precision = "bf16"}), 2,
                            {.system = "gpipe", .microbatches = 2, .split = {7}});
  const Data data{samples(), {}};
  const Result coarse = train(network, planned, data);
  const Result fine = train(network, planned, data, {.precision = "fp32"});
  EXPECT_NEAR(coarse.loss, fine.loss, 0.1 * fine.loss);
  EXPECT_FALSE(torch::equal(coarse.weights.at("first.weight"), fine.weights.at("first.weight")));
}

TEST(LibraryTraining, GivesTheSameBitsWhetherItRecomputesOrNot) {
  const Network network = knotty();
  expect_same(train(network, gpipe(network, {5}, true), {samples(), {}}).weights,
              train(network, gpipe(network, {5}, false), {samples(), {}}).weights);
}

// Records which samples each minibatch had. Loading may happen on any thread.
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
  // All recorded loads except the first: before training, train() loads one sample to check it.
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

// A network whose decoder shares the matrix of the embedding (tied weights).
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
  h = net.add("lstm", lstm, {h});  // its states are outputs without users
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

}  // namespace
}  // namespace pipedream::test
