// Tests of Builder and Network: what a builder refuses, and what a network tells about itself.
#include "library/library_testing.h"

namespace pipedream::test {
namespace {

TEST(LibraryBuilder, RefusesANameThatIsTaken) {
  Builder net("n");
  const Value x = net.input("x", {4});
  (void)net.add("fc", linear(4, 4), {x});
  expect_refused([&] { (void)net.add("fc", linear(4, 4), {x}); }, "two layers 'fc'");
  expect_refused([&] { (void)net.input("fc", {4}); }, "two layers 'fc'");
  expect_refused([&] { (void)net.input("", {4}); }, "has no name");
}

TEST(LibraryBuilder, RefusesInputsThatThereCannotBe) {
  Builder net("n");
  expect_refused([&] { (void)net.input("x", {4, 0}); }, "input 'x': wanted sides from 1 on");
  expect_refused([&] { (void)net.input("x", {}, torch::kLong); }, "need the bound");
  expect_refused([&] { (void)net.input("x", {4}, torch::kComplexFloat, 3); }, "found ComplexFloat");
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_EQ(message_of([&] { (void)net.input("x", {kHuge, kHuge}); }).find("input 'x': "), 0U);
}

TEST(LibraryBuilder, TakesMasks) {
  Builder net("n");
  const Value x = net.input("x", {64});
  const Value mask = net.input("mask", {64}, torch::kBool);
  const auto both = [](const Tensor& of, const Tensor& where) {
    EXPECT_TRUE(where.any().item<bool>() && !where.all().item<bool>());
    return torch::where(where, of, torch::zeros_like(of));
  };
  (void)net.add("masked", both, {x, mask});
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

TEST(LibraryBuilder, RefusesALayerThatThrowsWhatIsNoException) {
  Builder net("n");
  const Value x = net.input("x", {4});
  const auto throwing = [](const Tensor& in) -> Tensor {
    if (in.size(0) > 0) throw 7;
    return in;
  };
  expect_refused([&] { (void)net.add("odd", throwing, {x}); }, "layer 'odd': it cannot be run on");
}

// Without the refusal, the thread would wait forever for a mutex that it holds (library/seeded.h).
TEST(LibraryBuilder, RefusesALayerWhoseCodeMakesLayers) {
  const Network other = plain_chain();
  Builder net("n");
  const Value x = net.input("x", {4});
  const auto nesting = [other] {
    (void)other.initial_weights(1);
    return torch::nn::Linear(4, 4);
  };
  expect_refused([&] { (void)net.add("nest", nesting, {x}); }, "make other networks before");
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

Tensor join_of_list(torch::TensorList in) { return torch::cat(in, 1); }
struct JoinImpl : torch::nn::Module {
  Tensor forward(torch::TensorList in) { return torch::cat(in, 1); }
};
TORCH_MODULE(Join);

// A single tensor converts to a TensorList of length one. A layer that takes a TensorList must not
// be mistaken for a layer that takes a single tensor.
TEST(LibraryBuilder, GivesALayerOfATensorListAllItsInputs) {
  Builder net("n");
  const Value x = net.input("x", {4});
  const Value y = net.input("y", {3});
  const auto expect_joined = [&](const std::string& name, auto layer) {
    const Value joined = net.add(name, std::move(layer), {x, y});
    EXPECT_NO_THROW((void)net.add(name + " fits", linear(7, 2), {joined}));
  };
  expect_joined("function", join_of_list);
  expect_joined("lambda", [](torch::TensorList in) { return torch::cat(in, 1); });
  expect_joined("mutable", [](const torch::TensorList& in) mutable { return torch::cat(in, 1); });
  expect_joined("std::function", std::function<Tensor(torch::TensorList)>(join_of_list));
  expect_joined("module", [] { return Join(); });
  const Value single = net.add("single", join_of_list, {x});
  EXPECT_NO_THROW((void)net.add("single fits", linear(4, 2), {single}));
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

}  // namespace
}  // namespace pipedream::test
