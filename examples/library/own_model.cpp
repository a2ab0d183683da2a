// A network of one's own, a residual MLP that tells three spirals apart, trained on two pipelined
// workers: threads of this machine, or the processes of `mpirun -n 2 own_model`.
#include <iostream>

#include <pipedream/pipedream.h>

using torch::Tensor;

// One residual block is one layer: plans never cut inside it.
struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(std::int64_t width)
      : in(register_module("in", torch::nn::Linear(width, width))),
        out(register_module("out", torch::nn::Linear(width, width))) {}
  Tensor forward(const Tensor& x) { return x + out(torch::relu(in(x))); }
  torch::nn::Linear in, out;
};
TORCH_MODULE(Block);

pipedream::Network spiral_network(std::int64_t width, int blocks) {
  pipedream::Builder net("spirals");
  const auto point = net.input("point", {2});
  const auto label = net.input("label", {}, torch::kLong, /*bound=*/3);
  auto x = net.add("first", [=] { return torch::nn::Linear(2, width); }, {point});
  for (int i = 0; i < blocks; ++i)
    x = net.add("block" + std::to_string(i), [=] { return Block(width); }, {x});
  x = net.add("last", [=] { return torch::nn::Linear(width, 3); }, {x});
  const auto loss = net.add(
      "loss", [](Tensor scores, Tensor of) { return torch::cross_entropy_loss(scores, of); },
      {x, label});
  return net.build(loss, /*batch=*/64);
}

pipedream::Samples spirals(std::int64_t count) {
  const Tensor label = torch::arange(count) % 3;
  const Tensor radius = torch::linspace(0.1, 1, count);
  const Tensor angle = 5 * radius + label * 2.0944;
  const Tensor point = torch::stack({radius * angle.cos(), radius * angle.sin()}, 1);
  return pipedream::in_memory({{"point", point}, {"label", label}});
}

int main(int, char** arguments) try {
  pipedream::keep_memory(arguments);  // every minibatch needs the memory of the last one again
  pipedream::World world;             // one process, unless mpirun started more
  const auto network = spiral_network(/*width=*/64, /*blocks=*/4);
  const auto profile = pipedream::profile(network, {.seconds = 1, .workers = 2, .world = &world});
  const auto plan =
      pipedream::plan(profile, /*workers=*/2, {.system = "pipedream", .straight = true});
  const auto result =
      pipedream::train(network, plan, {spirals(3000), spirals(301)},
                       {.epochs = 10, .optimiser = {.kind = "adam"}, .world = &world});
  if (world.rank() == 0)
    std::cout << plan.table() << "\n"
              << result.table << "\nheld-out accuracy " << result.held_out->accuracy.value()
              << "\n";
} catch (const pipedream::Error& error) {
  std::cerr << "own_model: " << error.what() << "\n";
  return 1;
}
