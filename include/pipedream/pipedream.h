// pipedream as a library: pipeline-parallel training of a network of your own, planned by itself.
//
//   pipedream::Builder net("mlp");
//   pipedream::Value x = net.input("x", {16});
//   x = net.add("fc1", [] { return torch::nn::Linear(16, 64); }, {x});
//   x = net.add("relu", torch::relu, {x});
//   …
//   pipedream::Network network = net.build(loss, /*batch=*/32);
//   pipedream::Profile profile = pipedream::profile(network);
//   pipedream::Plan plan = pipedream::plan(profile, /*workers=*/2);
//   pipedream::Result result = pipedream::train(network, plan, data);
//
// docs/library.md of the project explains it: what a layer may do, threads, processes, how to
// install and link. Everything throws the exceptions of <pipedream/errors.h> and nothing else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pipedream/errors.h>

#include <torch/torch.h>

namespace pipedream {
inline namespace v1 {

using Tensors = std::vector<torch::Tensor>;
// Parameters and buffers by name: that of the layer, a dot, that in the module ("fc1.weight").
using Weights = std::map<std::string, torch::Tensor>;

// ---- how a layer of any kind is called; nothing here is for users ------------------------------
namespace detail {

// One layer of one worker.
struct Computation {
  std::shared_ptr<torch::nn::Module> module;  // null: it has no weights
  std::function<Tensors(const Tensors&)> forward;
};
// Makes a new one each time.
using Recipe = std::function<Computation()>;

inline constexpr std::size_t kMostArguments = 8;

// Tensors, lists of them, and tuples of either, as one list.
inline void append(Tensors& list, const torch::Tensor& result) { list.push_back(result); }
inline void append(Tensors& list, const Tensors& results) {
  list.insert(list.end(), results.begin(), results.end());
}
template <class Tuple>
requires requires { std::tuple_size<Tuple>::value; }
void append(Tensors& list, const Tuple& results) {
  std::apply([&list](const auto&... each) { (append(list, each), ...); }, results);
}

template <std::size_t>
using Argument = const torch::Tensor&;
template <class Function, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<Function&, Argument<I>...>;
}
template <class Function, std::size_t... N>
constexpr bool takes_any(std::index_sequence<N...>) {
  return (takes<Function>(std::make_index_sequence<N + 1>{}) || ...);
}

// A function of one torch::TensorList. It could be called with a single tensor too, which a list of
// one is made of: so it is asked what it was declared with. (Of an overloaded or generic function
// that cannot be told.)
template <class>
struct IsOfList : std::false_type {};
template <class Result, class Taken>
struct IsOfList<Result(Taken)> : std::is_same<std::remove_cvref_t<Taken>, torch::TensorList> {};
template <class Result, class Taken>
struct IsOfList<Result (*)(Taken)> : IsOfList<Result(Taken)> {};
template <class Class, class Result, class Taken>
struct IsOfList<Result (Class::*)(Taken)> : IsOfList<Result(Taken)> {};
template <class Class, class Result, class Taken>
struct IsOfList<Result (Class::*)(Taken) const> : IsOfList<Result(Taken)> {};
template <class Class, class Result, class Taken>
struct IsOfList<Result (Class::*)(Taken) noexcept> : IsOfList<Result(Taken)> {};
template <class Class, class Result, class Taken>
struct IsOfList<Result (Class::*)(Taken) const noexcept> : IsOfList<Result(Taken)> {};
template <class Function>
constexpr bool takes_list() {
  if constexpr (requires { Function::kTakesList; })
    return Function::kTakesList;
  else if constexpr (requires { &Function::operator(); })
    return IsOfList<decltype(&Function::operator())>::value;
  else
    return IsOfList<Function>::value;
}
template <class Module>
constexpr bool forward_takes_list() {
  if constexpr (requires { &Module::forward; })
    return IsOfList<decltype(&Module::forward)>::value;
  else
    return false;
}

template <class Function, std::size_t... I>
Tensors call_with(Function& function, const Tensors& inputs, std::index_sequence<I...>) {
  Tensors results;
  append(results, function(inputs[I]...));
  return results;
}

// Calls with one argument per input; a function that takes no tensors, with the list of them.
template <std::size_t N = 1, class Function>
Tensors call(Function& function, const Tensors& inputs) {
  if constexpr (takes_list<Function>() ||
                !takes_any<Function>(std::make_index_sequence<kMostArguments>{})) {
    static_assert(std::is_invocable_v<Function&, const Tensors&>,
                  "a layer takes torch::Tensors, at most 8, or one std::vector or "
                  "torch::TensorList of them");
    Tensors results;
    append(results, function(inputs));
    return results;
  } else if constexpr (N > kMostArguments) {
    throw BadUsage("it does not take " + std::to_string(inputs.size()) + " inputs");
  } else {
    if constexpr (takes<Function>(std::make_index_sequence<N>{}))
      if (inputs.size() == N) return call_with(function, inputs, std::make_index_sequence<N>{});
    return call<N + 1>(function, inputs);
  }
}

template <class Module>
struct Forward {
  static constexpr bool kTakesList = forward_takes_list<Module>();
  Module& module;
  template <class... T>
  requires requires(Module& of, const T&... x) { of.forward(x...); }
  decltype(auto) operator()(const T&... x) { return module.forward(x...); }
};

template <class Module>
Computation computation_of(std::shared_ptr<Module> module) {
  static_assert(std::is_base_of_v<torch::nn::Module, Module>,
                "a layer's factory returns a torch::nn module");
  return {module, [module](const Tensors& inputs) {
            Forward<Module> forward{*module};
            return call(forward, inputs);
          }};
}
inline Computation computation_of(torch::nn::AnyModule any) {
  const auto shared = std::make_shared<torch::nn::AnyModule>(std::move(any));
  return {shared->ptr(), [shared](const Tensors& inputs) {
            Forward<torch::nn::AnyModule> forward{*shared};
            return call(forward, inputs);
          }};
}
template <class Module>
Computation computation_of(const torch::nn::ModuleHolder<Module>& holder) {
  return computation_of(holder.ptr());
}

template <class Layer>
Recipe recipe_of(Layer layer) {
  if constexpr (std::is_invocable_v<Layer&>)
    return [layer]() mutable { return computation_of(layer()); };
  else
    return [layer] {
      return Computation{
          nullptr, [own = layer](const Tensors& inputs) mutable { return call(own, inputs); }};
    };
}

}  // namespace detail

// ---- networks ----------------------------------------------------------------------------------

// What flows between layers: an input of the network, one output of a layer, or a weight that
// layers share. Belongs to the Builder it came from; may be used by any number of its layers.
class Value {
 public:
  Value() = default;

 private:
  friend class Builder;
  const void* owner_ = nullptr;
  std::size_t layer_ = 0;
  std::size_t number_ = 0;
  bool is_weight_ = false;
};

// A network: which layers there are and how to make them. It holds no weights; every worker makes
// the layers of its own stages. Immutable; copies are cheap, and may be used from any thread.
class Network {
 public:
  struct Impl;  // pipedream's own
  explicit Network(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::int64_t batch() const;               // samples of a minibatch
  [[nodiscard]] std::int64_t parameter_count() const;     // numbers that are learnt
  [[nodiscard]] std::vector<std::string> layers() const;  // names, in order, without the inputs

  // What training begins with: a function of the seed alone, whatever the plan.
  [[nodiscard]] Weights initial_weights(std::uint64_t seed = 0) const;
  // The same network beginning with these weights, for a pretrained one or to train on; those that
  // are not named begin as before. Throws BadUsage for a name or shape that the network lacks.
  [[nodiscard]] Network with_weights(const Weights& weights) const;

  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// Writes a network down, layer by layer. Used from one thread.
class Builder {
 public:
  explicit Builder(std::string name);
  ~Builder();
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;

  // What the network reads from the data: `shape` is that of one sample. Whole numbers (labels,
  // words) lie in [0, bound), which must be said; torch::kBool needs none.
  Value input(const std::string& name, std::vector<std::int64_t> shape,
              torch::ScalarType type = torch::kFloat, std::int64_t bound = 0);

  // The next layer: the smallest unit that plans place. `layer` is either
  //  - a factory: called without arguments it returns a new torch::nn module (a holder such as
  //    torch::nn::Linear or your own TORCH_MODULE, a torch::nn::AnyModule, or a std::shared_ptr of
  //    a class derived from torch::nn::Module), or
  //  - a function of tensors, without weights.
  // A module's forward and a function take one torch::Tensor per input, or one std::vector or
  // torch::TensorList of them; they return a torch::Tensor, a std::vector of them, or a std::tuple.
  // Samples lie along dimension 0 of all inputs and outputs. Returns the first output.
  //
  // The layer is made twice and run once each, on two and on three samples. Throws BadUsage, naming
  // it, for a name that is taken, a value of another builder, shapes that do not fit, or a layer
  // that writes into its inputs.
  template <class Layer>
  Value add(const std::string& name, Layer layer, const std::vector<Value>& inputs) {
    return add_layer(name, detail::recipe_of(std::move(layer)), inputs);
  }

  // Another output of the layer that `of` is an output of; the first is 0.
  [[nodiscard]] Value output(const Value& of, std::size_t number) const;

  // A parameter of that layer's module ("weight"), as an input of other layers: then all learn one
  // tensor, wherever they run.
  [[nodiscard]] Value weight(const Value& of, const std::string& parameter);

  // The network for minibatches of so many samples. `loss` is a number (no dimensions), the mean
  // over the samples of the minibatch.
  [[nodiscard]] Network build(const Value& loss, std::int64_t batch) const;

 private:
  struct Impl;
  Value add_layer(const std::string& name, detail::Recipe recipe, const std::vector<Value>& inputs);
  std::unique_ptr<Impl> impl_;
};

// ---- processes ---------------------------------------------------------------------------------

// Lets the process keep memory that it frees, which libtorch's allocator would hand back to the
// system and soon take again, which costs training on CPUs time. Call it first thing in main() with
// its arguments, because on Arm the program begins again with another environment; docs/library.md
// has the settings.
void keep_memory(char** arguments);

// The processes that mpirun started, of which this is one; plainly started, a world of one. To
// train on them, make one first thing in main(), give it to profile() and train(), and let all
// processes do the same. Once per program, from one thread; outlives what uses it.
class World {
 public:
  // Throws CannotMeet where mpirun started the program and pipedream was built without MPI.
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] int rank() const;  // the first is 0: the one that should speak
  [[nodiscard]] int size() const;

  struct Impl;  // pipedream's own
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// ---- profiles ----------------------------------------------------------------------------------

// What running each layer costs. Immutable.
class Profile {
 public:
  struct Impl;  // pipedream's own
  explicit Profile(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  // As `pipedream profile -o` writes it. Throw IoError, and BadFile for what is no profile.
  void save(const std::filesystem::path& file) const;
  [[nodiscard]] static Profile load(const std::filesystem::path& file);

  [[nodiscard]] std::string table() const;  // for people
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

struct ProfileOptions {
  double seconds = 5;  // measure for about this long
  // Measure in the company of so many workers of this machine, as training will compute; no more
  // than there are cores.
  int workers = 1;
  int threads = 1;                     // that a worker computes with
  std::string optimiser = "momentum";  // whose updates are timed: sgd, momentum, adam, adamw
  std::string device = "cpu";          // or "cuda:0"
  std::string precision = "fp32";      // or "bf16": products in bfloat16, weights in float
  std::uint64_t seed = 0;              // of weights and made-up inputs
  // Called now and then with the share done and what is being done.
  std::function<void(double share, const std::string& what)> progress{};
  World* world = nullptr;  // the first process measures, all get its profile
};

// Runs the network on made-up inputs and measures. Sets libtorch's threads for the whole process.
[[nodiscard]] Profile profile(const Network& network, const ProfileOptions& options = {});

// ---- plans -------------------------------------------------------------------------------------

// The machines to plan for. Immutable.
class Cluster {
 public:
  struct Impl;  // pipedream's own
  explicit Cluster(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  // A cluster file (docs/formats.md). Throws IoError and BadFile.
  [[nodiscard]] static Cluster load(const std::filesystem::path& file);
  // So many workers that share this machine.
  [[nodiscard]] static Cluster this_machine(int workers);

  [[nodiscard]] int workers() const;
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// Which layers run on which workers, and what is predicted of that. Immutable.
class Plan {
 public:
  struct Impl;  // pipedream's own
  explicit Plan(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  // As `pipedream plan -o` writes it. Throw IoError, and BadFile for what is no plan for this
  // network.
  void save(const std::filesystem::path& file) const;
  [[nodiscard]] static Plan load(const std::filesystem::path& file, const Network& network);

  [[nodiscard]] std::string table() const;          // for people
  [[nodiscard]] const std::string& system() const;  // "pipedream", "gpipe", …
  [[nodiscard]] std::string config() const;         // the replicas of each stage: "2-1"
  [[nodiscard]] int workers() const;                // that train
  [[nodiscard]] std::optional<double> samples_per_second() const;  // predicted
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// What is wished for; the flags of `pipedream plan` have the same names and meanings. Throws
// BadUsage where a wish means nothing to the system named.
struct PlanOptions {
  std::string system = "auto";  // the fastest that fits, or one by name
  std::string optimiser = "momentum";
  std::optional<std::int64_t> memory{};  // bytes that a worker may use at most
  bool straight = false;                 // no replicated stages
  bool recompute = true;                 // where the system can
  std::optional<int> microbatches{};     // that a minibatch is cut into
  std::optional<int> stages{};
  std::vector<int> split{};  // layers before each cut
};

// Throws CannotMeet, with the reasons, where no plan fits. The same arguments give the same plan.
[[nodiscard]] Plan plan(const Profile& profile, const Cluster& cluster,
                        const PlanOptions& options = {});
// So many workers that share this machine, or the GPU of it that the profile was measured on.
[[nodiscard]] Plan plan(const Profile& profile, int workers, const PlanOptions& options = {});

// ---- training ----------------------------------------------------------------------------------

// Samples by number, from 0.
struct Samples {
  std::int64_t count = 0;
  // What the network's input of that name reads for these samples, in this order along dimension
  // 0. Called from the threads of all workers at once; must depend on its arguments alone.
  std::function<torch::Tensor(const std::string& input, const std::vector<std::int64_t>& samples)>
      load{};
};

// Samples that lie in memory: per input of the network one tensor, samples along dimension 0.
[[nodiscard]] Samples in_memory(std::map<std::string, torch::Tensor> inputs);

struct Data {
  Samples training;
  Samples held_out{};  // evaluated after each epoch; none where count is 0
};

struct Optimiser {
  std::string kind = "momentum";          // sgd, momentum, adam, adamw, as torch.optim has them
  std::optional<double> learning_rate{};  // 0.01; adam and adamw: 0.001
  double momentum = 0.9;
  double weight_decay = 0;
  double beta1 = 0.9;  // this and what follows: of adam and adamw
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

// A minibatch was trained.
struct Step {
  std::int64_t minibatch = 0;    // from 0, through all epochs
  std::int64_t minibatches = 0;  // in all
  double loss = 0;
  double seconds = 0;  // since training began
};

// The held-out samples were evaluated at the end of an epoch.
struct Evaluation {
  std::int64_t epoch = 0;  // from 0
  double loss = 0;
  // Where the loss reads scores [N, classes] and labels [N]; where it reads [N, T, classes] and
  // [N, T], the perplexity instead.
  std::optional<double> accuracy{};
  std::optional<double> perplexity{};
};

struct TrainOptions {
  std::int64_t epochs = 1;  // passes over the training samples, unless
  // so many minibatches of the network's batch are to be trained. Where the replicas of the first
  // stage share each minibatch (dapple), as many times fewer of as many times the samples.
  std::optional<std::int64_t> minibatches{};
  Optimiser optimiser{};
  std::optional<double> clip{};  // the largest norm of all gradients; for systems that flush
  std::uint64_t seed = 0;        // of initial weights, the order of samples and dropout
  int threads = 1;               // that each worker computes with
  // "cpu"; "cuda": each worker has the machine's next GPU; "cuda:0": that one for all. Empty: as
  // the plan's profile was measured; so with the precision, "fp32" or "bf16".
  std::string device{};
  std::string precision{};
  bool vertical_sync = false;  // these two: of the system pipedream
  bool no_stash = false;
  double patience = 600;  // seconds after which a worker that is waited for counts as lost
  // Where workers then write what they did last; empty: nowhere.
  std::filesystem::path stall_folder{};
  // Called in the first process, by one thread at a time, while training goes on. What they throw
  // ends it.
  std::function<void(const Step&)> on_step{};
  std::function<void(const Evaluation&)> on_evaluation{};
  World* world = nullptr;  // each of its processes is a worker; none: workers are threads
};

// What came out; under mpirun the first process has it, and the others an empty one.
struct Result {
  Weights weights;  // on the CPU
  std::int64_t minibatches = 0;
  double loss = 0;                     // of the last minibatch
  std::optional<Evaluation> held_out;  // the last
  double samples_per_second = 0;       // in the last epoch; 0 where it was too short to tell
  double seconds = 0;                  // in all
  std::vector<std::int64_t> memory;    // by worker: the most bytes that libtorch held
  std::string table;                   // predicted and measured, for people
};

// Trains the network by the plan, on threads of this machine or the processes of a world, and
// returns when all workers have ended. The first failure of any ends all and is thrown: BadUsage
// or CannotMeet before anything runs, TrainingStopped, WorkerLost, or Error with worker, op and
// layer.
[[nodiscard]] Result train(const Network& network, const Plan& plan, const Data& data,
                           const TrainOptions& options = {});

// Weights as safetensors, which Python reads too. Throw IoError and BadFile.
void save_weights(const std::filesystem::path& file, const Weights& weights);
[[nodiscard]] Weights load_weights(const std::filesystem::path& file);

}  // namespace v1
}  // namespace pipedream
