// The C++ interface of pipedream: pipeline-parallel training of torch::nn networks. A program
// includes only this file. docs/library.md of the project is its manual: it explains installation,
// the rules for layers, threads and processes.
//
// A program describes its network, measures what each layer costs, makes a plan from that, and
// trains by the plan:
//
//   pipedream::Builder net("mlp");
//   pipedream::Value x = net.input("x", {16});
//   pipedream::Value label = net.input("label", {}, torch::kLong, /*bound=*/10);
//   pipedream::Value y = net.add("fc1", [] { return torch::nn::Linear(16, 64); }, {x});
//   y = net.add("relu", torch::relu, {y});
//   y = net.add("fc2", [] { return torch::nn::Linear(64, 10); }, {y});
//   auto cross_entropy = [](torch::Tensor scores, torch::Tensor classes) {
//     return torch::cross_entropy_loss(scores, classes);
//   };
//   pipedream::Value loss = net.add("loss", cross_entropy, {y, label});
//   pipedream::Network network = net.build(loss, /*batch=*/32);
//
//   pipedream::Profile profile = pipedream::profile(network);
//   pipedream::Plan plan = pipedream::plan(profile, /*workers=*/2);
//   pipedream::Data data{pipedream::in_memory({{"x", images}, {"label", labels}})};
//   pipedream::Result result = pipedream::train(network, plan, data);
//
// These words have the same meaning everywhere in this file (docs/glossary.md has more of them):
//   layer          a module or function of the network, which plans never split
//   worker         a thread or process that trains a part of the network, on CPU cores or a GPU
//   stage          the layers that run together on one worker, or on several workers: its replicas
//   replica        one of several workers that run the same stage. As in data parallelism, replicas
//                  work on different samples and average their gradients
//   minibatch      the samples from which a plain training loop computes one update; a batch
//   microbatch     a slice of a minibatch. A pipeline works on several microbatches at once
//   system         a way to train with stages and replicas, such as "gpipe" (docs/systems.md)
//   stale weights  gradients are computed with older weights than those that they are applied to
//
// Functions throw exceptions of <pipedream/errors.h> and no others: BadUsage if an argument makes
// no sense, and what their comments say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pipedream/detail.h>
#include <pipedream/errors.h>

#include <torch/torch.h>

namespace pipedream {
inline namespace v1 {

// Several tensors, such as all inputs of a layer.
using Tensors = std::vector<torch::Tensor>;
// The parameters and buffers of a network by name. A name is the name of the layer, a dot, and the
// name of the tensor in the layer's module: "fc1.weight".
using Weights = std::map<std::string, torch::Tensor>;

// ---- networks ----------------------------------------------------------------------------------

// A tensor of a network that is being built, as an argument for further layers: an input of the
// network, an output of a layer, or a parameter that layers share. Only the Builder that returned
// the value accepts it. Any number of layers may use it.
class Value {
 public:
  Value() = default;  // a value of no Builder, to be assigned to

 private:
  friend class Builder;
  const void* owner_ = nullptr;
  std::size_t layer_ = 0;
  std::size_t number_ = 0;
  bool is_weight_ = false;
};

// The description of a network: its layers, how to make them, and how they are connected. Training
// does not change it: each worker makes the layers of its own stages, and train() returns the
// trained weights. Immutable, cheap to copy, and safe to use from any thread.
class Network {
 public:
  // Internal.
  struct Impl;
  explicit Network(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  // Returns a PyTorch model that torch.export wrote to a file, with its weights
  // (docs/own_models.md). Its inputs are the arguments of the model's forward and, for the losses
  // "cross-entropy" and "mse", `target`. The other losses are "language-model" and "none"; an empty
  // `loss` is the one that fits. Throws IoError, BadFile, BadUsage for an unknown loss, and
  // CannotMeet if the model has operators that are not supported, or cannot have this loss or
  // batch.
  [[nodiscard]] static Network load(const std::filesystem::path& file, std::int64_t batch,
                                    const std::string& loss = "");

  [[nodiscard]] const std::string& name() const;
  // The number of samples in a minibatch, as it was given to Builder::build or load.
  [[nodiscard]] std::int64_t batch() const;
  // The number of elements of all trained parameters. A shared parameter counts once.
  [[nodiscard]] std::int64_t parameter_count() const;
  // The names of all layers in the order in which they were added. Inputs are not among them.
  [[nodiscard]] std::vector<std::string> layers() const;

  // Returns the parameters and buffers that training with this seed starts from. They are the same
  // for every plan.
  [[nodiscard]] Weights initial_weights(std::uint64_t seed = 0) const;
  // Returns a network that starts training from copies of these tensors, for example of pretrained
  // weights or of the weights of an earlier Result. Tensors that are not in `weights` start as
  // before. Throws BadUsage if `weights` has a name that the network does not have, or a tensor
  // whose shape differs from the network's.
  [[nodiscard]] Network with_weights(const Weights& weights) const;

  // Internal.
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// Makes a Network, layer by layer. Not thread-safe: use it from one thread.
class Builder {
 public:
  explicit Builder(std::string name);
  ~Builder();
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;

  // Adds an input of the network, which training reads from the data set: features, labels, masks.
  // `shape` is the shape of one sample, without the dimension of the batch; {} means one number per
  // sample. For integer types, `bound` is required: all values must be in [0, bound). For
  // floating-point types and torch::kBool, `bound` is ignored. Throws BadUsage if the name is taken
  // or `bound` is missing.
  Value input(const std::string& name, std::vector<std::int64_t> shape,
              torch::ScalarType type = torch::kFloat, std::int64_t bound = 0);

  // Adds a layer that reads `inputs`, and returns its first output. `layer` is either
  //  - a factory: a function without arguments that returns a new torch::nn module in each call.
  //    The module is a holder such as torch::nn::Linear or your own TORCH_MODULE, a
  //    torch::nn::AnyModule, or a std::shared_ptr of a class derived from torch::nn::Module; or
  //  - a function of tensors. It has no weights.
  // The module's forward, or the function, takes one torch::Tensor per input, at most eight, or all
  // inputs as one std::vector or torch::TensorList. It returns a torch::Tensor, or a std::vector or
  // std::tuple of them. Dimension 0 of inputs and outputs is the batch: it has one entry for each
  // sample, and the layer must accept any number of samples, from one. Three kinds of tensors may
  // lack this dimension: the loss, values of weight(), and outputs that no layer reads. At least
  // one input must have it.
  //
  // To find the shapes of the outputs, add() makes the layer twice, and runs one copy on two
  // samples and the other on three. Throws BadUsage, with the layer's name, if the name is taken,
  // if an input belongs to another Builder, if the layer fails on these inputs, or if it breaks a
  // rule of docs/library.md, for example by writing into its inputs.
  template <class Layer>
  Value add(const std::string& name, Layer layer, const std::vector<Value>& inputs) {
    return add_layer(name, detail::recipe_of(std::move(layer)), inputs);
  }

  // Returns output `number`, counted from 0, of a layer with several outputs. `of` is what add()
  // returned for the layer. Throws BadUsage if the layer has no such output.
  [[nodiscard]] Value output(const Value& of, std::size_t number) const;

  // Returns a parameter of a layer as a value that other layers can read (tied weights). `of` is
  // what add() returned for the layer, and `parameter` is the parameter's name in the module, such
  // as "weight". All layers that use it train one tensor, even if they run on different workers.
  // Throws BadUsage if the module has no trained parameter of that name.
  [[nodiscard]] Value weight(const Value& of, const std::string& parameter);

  // Returns the network of all inputs and layers added so far. `loss` must be a Float scalar: the
  // mean over the samples that its layer reads. `batch` is the number of samples in a minibatch.
  // (docs/systems.md says for each system how many samples an update has.) Throws BadUsage if an
  // input or layer is not used, if no parameter is trained, or if two tensors have the same name.
  [[nodiscard]] Network build(const Value& loss, std::int64_t batch) const;

 private:
  struct Impl;
  Value add_layer(const std::string& name, detail::Recipe recipe, const std::vector<Value>& inputs);
  std::unique_ptr<Impl> impl_;
};

// ---- processes ---------------------------------------------------------------------------------

// Makes the memory allocator keep freed memory in this process instead of returning it to the
// operating system. Training on CPUs is faster then, because every minibatch needs the same amounts
// of memory again. `arguments` is argv of main(). Call this function first in main(), because on
// 64-bit Arm it may restart the program with another environment variable. docs/library.md lists
// the settings that it changes.
void keep_memory(char** arguments);

// The processes that mpirun has started, one of which is this process. In a program that was
// started without mpirun, a World is this process alone.
//
// To train on several processes, make a World at the beginning of main(), after keep_memory(), and
// pass it to profile() and train(). All processes must make the same calls in the same order. Make
// at most one World per process, use it from one thread, and let it outlive these calls. If train()
// fails after workers have started, the World cannot be used again. After a call that was refused
// before that, for example with BadUsage, it can.
class World {
 public:
  // Starts MPI if mpirun has started this process. Throws CannotMeet if MPI cannot start, for
  // example because pipedream was built without it, and WorkerLost if the first MPI calls fail.
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // The number of this process, from 0. Process 0 gets the results of training.
  [[nodiscard]] int rank() const;
  // The number of processes.
  [[nodiscard]] int size() const;

  // Internal.
  struct Impl;
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// ---- profiles ----------------------------------------------------------------------------------

// What each layer of a network costs on one device: the time of its forward, its backward and its
// optimizer step, its memory, and the size of its outputs. Immutable, cheap to copy, and safe to
// use from any thread.
class Profile {
 public:
  // Internal.
  struct Impl;
  explicit Profile(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  // Writes a profile file (JSON, docs/formats.md), as `pipedream profile -o` does. Throws IoError.
  void save(const std::filesystem::path& file) const;
  // Reads a profile file, or a profile in PipeDream's graph text (docs/formats.md). Throws IoError
  // if the file cannot be read, and BadFile if its content is not a profile.
  [[nodiscard]] static Profile load(const std::filesystem::path& file);

  // Returns the costs of all layers as a table for people to read.
  [[nodiscard]] std::string table() const;

  // Internal.
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// How profile() measures.
struct ProfileOptions {
  // How long to measure, in seconds. Large networks may take longer: at least one pass is run.
  double seconds = 5;
  // The number of workers that will train on this machine at once. While one worker is measured,
  // the others run the same network, because cores share caches and memory bandwidth. No more
  // workers run than the machine has cores for, with `threads` cores each. On a GPU, one worker is
  // measured alone.
  int workers = 1;
  // CPU threads that each worker computes with (libtorch's intra-op threads).
  int threads = 1;
  // Whether each of the workers computes on cores of its own, as TrainOptions::bind_cores says.
  bool bind_cores = true;
  // The optimizer whose steps are measured: "sgd", "momentum", "adam" or "adamw". Should be the
  // optimizer of the training.
  std::string optimiser = "momentum";
  // "cpu", or a GPU such as "cuda:0".
  std::string device = "cpu";
  // "fp32", or "bf16": matrix products and convolutions are computed in bfloat16 by autocast, and
  // weights stay Float.
  std::string precision = "fp32";
  // Seed of the initial weights, of the random inputs and of dropout.
  std::uint64_t seed = 0;
  // Called now and then on the thread that called profile(). `what` is the current phase, such as
  // "timing layers", and `share` is the finished part of this phase, from 0 to 1.
  std::function<void(double share, const std::string& what)> progress{};
  // If set, all processes of the world must call profile(). The first process measures, and all
  // processes return its profile.
  World* world = nullptr;
};

// Measures the layers of the network on random inputs of its batch size. Sets libtorch's number of
// threads for the whole process, so no other training or profiling should run at the same time.
// Throws BadUsage for an unknown name or a number out of range, CannotMeet if the machine lacks the
// device or the memory, and Error if the code of a layer fails.
[[nodiscard]] Profile profile(const Network& network, const ProfileOptions& options = {});

// ---- plans -------------------------------------------------------------------------------------

// The workers to plan for: how many there are, their memory and speed, and the links between them.
// Immutable, cheap to copy, and safe to use from any thread.
class Cluster {
 public:
  // Internal.
  struct Impl;
  explicit Cluster(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  // Reads a cluster file (TOML, docs/formats.md). Throws IoError if the file cannot be read, and
  // BadFile if its content is not a cluster.
  [[nodiscard]] static Cluster load(const std::filesystem::path& file);
  // Returns `workers` workers on this machine. Each has an equal share of the machine's memory, and
  // the links between them are as fast as memory copies.
  [[nodiscard]] static Cluster this_machine(int workers);

  // The number of workers.
  [[nodiscard]] int workers() const;

  // Internal.
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// Which layers run on which workers and by which system, with the predicted speed and memory, and
// the simulated speed. Immutable, cheap to copy, and safe to use from any thread.
class Plan {
 public:
  // Internal.
  struct Impl;
  explicit Plan(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  // Writes a plan file (JSON, docs/formats.md), as `pipedream plan -o` does. Throws IoError.
  void save(const std::filesystem::path& file) const;
  // Reads a plan file for `network`. Throws IoError if the file cannot be read, and BadFile if its
  // content is not a plan for the layers of `network`.
  [[nodiscard]] static Plan load(const std::filesystem::path& file, const Network& network);

  // Returns the stages and the prediction as a table for people to read.
  [[nodiscard]] std::string table() const;
  // The name of the system: "pipedream", "gpipe", …
  [[nodiscard]] const std::string& system() const;
  // The number of replicas of each stage: "2-1" is a stage on two workers, then a stage on one.
  [[nodiscard]] std::string config() const;
  // The number of workers that the plan uses. The cluster may have more.
  [[nodiscard]] int workers() const;
  // The predicted speed of training. Not set if the plan comes from a profile file without a batch
  // size.
  [[nodiscard]] std::optional<double> samples_per_second() const;
  // The speed of training in a simulation. It knows which transfers wait for each other, which the
  // predicted speed does not. plan() chooses by it. Not set where samples_per_second() is not, or
  // if the plan is too large to simulate while planning.
  [[nodiscard]] std::optional<double> simulated_samples_per_second() const;

  // Internal.
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// What plan() looks for. `pipedream plan` has flags of the same names and meanings, except that
// --no-recompute is `recompute = false` here. `pipedream help plan` lists the systems that have
// each option. If `system` names a system, plan() throws BadUsage for an option that this system
// does not have. If `system` is "auto", systems that cannot meet `straight`, `stages` or `split`
// are not considered, and each system ignores other options that it does not have.
struct PlanOptions {
  // The system to train with: "mp", "gpipe", "torchgpipe", "dapple", "interleaved", "pipedream",
  // "2bw", "dp-bsp" or "dp-asp" (docs/systems.md). With "auto", every system makes a plan, and
  // plan() chooses by simulated speed among the plans that fit the memory. `prefer` says whether it
  // may choose a system with stale weights (pipedream, 2bw). "auto" never chooses interleaved or
  // dp-asp.
  std::string system = "auto";
  // The optimizer of the training: "sgd", "momentum", "adam" or "adamw". The plan counts the memory
  // of the optimizer state.
  std::string optimiser = "momentum";
  // The most bytes of memory that a worker may use. Has no effect where it is more than the
  // worker's memory in the cluster.
  std::optional<std::int64_t> memory{};
  // If true, stages have no replicas.
  bool straight = false;
  // Whether stages may recompute activations in the backward pass instead of keeping them
  // (activation checkpointing). Only some systems can.
  bool recompute = true;
  // The number of microbatches per minibatch. If not set, the planner chooses it.
  std::optional<int> microbatches{};
  // Gradient accumulation: the number of minibatches that each replica of a stage computes for one
  // weight update, from 1 to 1024. The update applies the mean over all their samples. "dp-asp"
  // does not have this option.
  int accumulate = 1;
  // The number of stages. If not set, the planner chooses it.
  std::optional<int> stages{};
  // For each cut between two stages, the number of layers before it, in the order of
  // Network::layers(). {3, 7} makes three stages: the first three layers, the next four, and the
  // rest. If empty, the planner chooses the cuts.
  std::vector<int> split{};
  // Which system plan() chooses if `system` is "auto":
  //  - "exact": the fastest system without stale weights;
  //  - "balanced": the same, unless the fastest system with stale weights is at least 25 %
  //    faster in simulation, or no other system has a plan that fits the memory;
  //  - "speed": the fastest system, with or without stale weights.
  // Systems within 1 % of the fastest count as equally fast. Of these, plan() chooses the first in
  // this order: dp-bsp, dapple, gpipe, torchgpipe, mp, 2bw, pipedream. If `system` is not "auto",
  // `prefer` has no effect.
  std::string prefer = "balanced";
};

// Makes a plan to train the profiled network on `cluster`. The same arguments give the same plan.
// Throws BadUsage for an unknown name, a number out of range, or an option that the named system
// does not have. Throws CannotMeet, with the reasons, if there is no plan, for example because none
// fits the memory.
[[nodiscard]] Plan plan(const Profile& profile, const Cluster& cluster,
                        const PlanOptions& options = {});
// Makes a plan for `workers` workers on this machine. They share the memory of the machine. If the
// profile was measured on a GPU, they take the machine's GPUs in turn, as they do in train() by
// default, and the workers of one GPU share its memory. Throws as the function above, and
// CannotMeet if this machine has no GPU.
[[nodiscard]] Plan plan(const Profile& profile, int workers, const PlanOptions& options = {});

// ---- training ----------------------------------------------------------------------------------

// A data set. Its samples are numbered from 0 to `count` - 1.
struct Samples {
  std::int64_t count = 0;
  // Returns the values of one input of the network for some samples. `input` is the name of the
  // input, and `samples` are the numbers of the samples. The result has the input's type; its
  // dimension 0 has one entry per sample, in the order of `samples`. Must return the same values
  // for the same arguments. Each worker calls it for the inputs that its stages read, so several
  // threads may call it at once. train() first calls it for sample 0 of each input, on its own
  // thread.
  std::function<torch::Tensor(const std::string& input, const std::vector<std::int64_t>& samples)>
      load{};
};

// Returns a data set in memory. `inputs` has one tensor for each input of the network, by the name
// of the input; dimension 0 has one entry per sample. Throws BadUsage if the tensors do not have
// the same number of samples.
[[nodiscard]] Samples in_memory(std::map<std::string, torch::Tensor> inputs);

struct Data {
  // The samples to train on. Every epoch has each of them once, in another order, which depends on
  // the seed. The last minibatch of an epoch may be smaller than the others.
  Samples training;
  // The samples to evaluate after every epoch. They are never trained on. If `held_out.count` is 0,
  // there is no evaluation.
  Samples held_out{};
};

// The optimizer, with the update rules of torch.optim. Its `kind` should be that of
// ProfileOptions::optimiser and PlanOptions::optimiser, so that predictions are right.
struct Optimiser {
  // "sgd" (without momentum), "momentum" (SGD with momentum), "adam" or "adamw".
  std::string kind = "momentum";
  // If not set: 0.01 for "sgd" and "momentum", 0.001 for "adam" and "adamw".
  std::optional<double> learning_rate{};
  double momentum = 0.9;    // only for "momentum"
  double weight_decay = 0;  // for all kinds; torch's own default for AdamW is 0.01
  double beta1 = 0.9;       // only for "adam" and "adamw"
  double beta2 = 0.999;     // only for "adam" and "adamw"
  double epsilon = 1e-8;    // only for "adam" and "adamw"
  // Whether biases and the scales of normalisations, that is, parameters of fewer than two
  // dimensions, are left out of weight decay. Not for the system "dp-asp".
  bool decay_weights_only = false;
  // The decay of the exponential moving average of the weights, such as 0.999. If set, the averages
  // are evaluated and are the weights that train() gives back. They take as much memory as the
  // weights, which plan() does not count. Not for the system "dp-asp".
  std::optional<double> ema{};
  // The learning rate rises in equal steps over so many updates ("500") or epochs ("2epochs"). If
  // empty, it does not.
  std::string warm_up{};
  // How the learning rate falls: "cosine" to 0 at the end of the training, "cosine:0.1" to a tenth,
  // "step:30epochs:0.1" to a tenth of its value after each 30 epochs (or updates, without the
  // word), or "none". If empty, it stays.
  std::string learning_rate_decay{};
  // Whether the learning rate is multiplied by the number of minibatches of Network::batch()
  // samples that an update averages over, so that systems with large and small updates go equally
  // far per sample.
  bool scale_learning_rate = false;
};

// The progress of training when the loss of a minibatch is known, for TrainOptions::on_step.
// Minibatches are counted in units of Network::batch() samples. A system whose replicas share
// minibatches (dapple) trains several units in one step.
struct Step {
  std::int64_t minibatch = 0;    // number of the step's last minibatch, from 0 through all epochs
  std::int64_t minibatches = 0;  // number of minibatches to train in all epochs
  double loss = 0;               // mean over the samples of this step
  double seconds = 0;            // since training began, including evaluations
};

// The result of evaluating the held-out samples after an epoch.
struct Evaluation {
  std::int64_t epoch = 0;  // from 0
  double loss = 0;         // mean over the held-out samples
  // The share of labels that are predicted correctly, from 0 to 1. A prediction is the class with
  // the largest score. Set only if the layer of the loss reads exactly two values: scores of shape
  // [N, …, classes], and integer labels of shape [N, …].
  std::optional<double> accuracy{};
  // exp(loss). Set only if `accuracy` is set and samples have several labels each, as in language
  // models: scores of shape [N, T, classes], and labels of shape [N, T].
  std::optional<double> perplexity{};
};

// How train() trains.
struct TrainOptions {
  // Passes over the training samples. Ignored if `minibatches` is set.
  std::int64_t epochs = 1;
  // Minibatches to train, counted in units of Network::batch() samples. A system whose first-stage
  // replicas share a minibatch (dapple) runs fewer, larger ones, so the number of samples is the
  // same for all systems.
  std::optional<std::int64_t> minibatches{};
  Optimiser optimiser{};
  // If set, the gradients of an update are scaled so that their norm, over all parameters of the
  // network, is at most `clip` (as torch.nn.utils.clip_grad_norm_ does). train() throws CannotMeet
  // if the plan's system has stale weights (pipedream, 2bw, dp-asp).
  std::optional<double> clip{};
  // Seed of the initial weights, of the order of samples and of dropout.
  std::uint64_t seed = 0;
  // CPU threads that each worker computes with (libtorch's intra-op threads).
  int threads = 1;
  // Whether each worker on a CPU computes on cores of its own, as far as there are cores that other
  // programs leave free. The calling thread is bound too while it trains as one process of mpirun.
  // If false, the operating system chooses the cores.
  bool bind_cores = true;
  // "cpu"; "cuda": the workers of a machine take its GPUs in turn; or a GPU such as "cuda:0", which
  // all workers then share. If empty, "cpu" or "cuda", as the profile of the plan was measured.
  std::string device{};
  // "fp32", or "bf16": matrix products and convolutions are computed in bfloat16 by autocast, and
  // weights stay Float. If empty, the precision that the profile of the plan was measured with.
  std::string precision{};
  // Only for the system "pipedream", without replicas: every stage uses the weight version that the
  // first stage used for the minibatch (PipeDream paper, section 3.3).
  bool vertical_sync = false;
  // Only for the system "pipedream": no old weight versions are kept (no weight stashing). A
  // backward pass then uses newer weights than its forward pass did, so its gradient is wrong. For
  // experiments only.
  bool no_stash = false;
  // The most seconds that a worker waits for another worker. After that, train() throws WorkerLost.
  // Time in which the waiting process itself was stopped does not count. If not set: 20 times as
  // long as the longest wait that the plan's prediction allows, at least 10 seconds, and 600
  // seconds for a plan without a prediction.
  std::optional<double> patience{};
  // If a worker has waited for longer than `patience`, each worker writes its last operations to a
  // file in this folder. If empty, no files are written.
  std::filesystem::path stall_folder{};
  // Called when the loss of a minibatch is known, in the order of minibatches. The minibatch's
  // backward and update may still be to come. The call may come from another thread than the one
  // that called train(), but never at the same time as `on_evaluation`. Under mpirun, only the
  // first process calls it. If it throws, training ends, and train() throws an Error with the
  // message.
  std::function<void(const Step&)> on_step{};
  // Called after each evaluation of the held-out samples. The call may come from another thread
  // than the one that called train(), but never at the same time as `on_step`. Under mpirun, only
  // the first process calls it. If it throws, training ends, and train() throws an Error with the
  // message.
  std::function<void(const Evaluation&)> on_evaluation{};
  // Where checkpoints go, from which a training can go on (docs/checkpoints.md). The folder is made
  // if it does not exist, and locked while the training runs. If empty, none are written.
  std::filesystem::path checkpoints{};
  // Minibatches from one checkpoint to the next, counted in units of Network::batch() samples and
  // rounded up to whole updates. If not set, a checkpoint is written after every epoch. One more is
  // written when the training ends.
  std::optional<std::int64_t> checkpoint_every{};
  // How many of the newest checkpoints stay. The one with the lowest held-out loss stays too.
  int keep = 3;
  // The checkpoint to go on from: the folder of one checkpoint, or a folder of checkpoints, of
  // which the newest sound one is taken. If empty, the training begins anew. `epochs` and
  // `minibatches` count from the beginning of the first training. The plan may be another one.
  // train() throws CannotMeet if there is no checkpoint, and if the network, the number of samples,
  // `data_name`, `seed`, the batch, the precision or the kind of optimiser has changed, unless
  // `force` is set.
  std::filesystem::path resume{};
  bool force = false;
  // What checkpoints call the data, so that going on with other data is noticed.
  std::string data_name{};
  // Called about 20 times a second, from another thread. When it returns true, the training stops
  // at the next whole update, writes a checkpoint there and returns (Result::interrupted). Under
  // mpirun only the first process calls it. If it throws, the training ends, and train() throws
  // what it has thrown. Ignored if `checkpoints` is empty.
  std::function<bool()> stop{};
  // If set, and if mpirun has started this process, each process of the world is one worker, and
  // all processes must call train(). They use the plan of the first process, which may have fewer
  // workers than there are processes, but not more. Otherwise the workers are threads of this
  // process.
  World* world = nullptr;
};

// What train() returns. Under mpirun, only the first process gets the results; all others get a
// default-constructed Result.
struct Result {
  // All parameters and buffers of the network, on the CPU.
  Weights weights;
  // Minibatches that were trained, counted in units of Network::batch() samples, with those before
  // the checkpoint that the training went on from.
  std::int64_t minibatches = 0;
  // Whether the training ended early, because TrainOptions::stop returned true. Set in all
  // processes.
  bool interrupted = false;
  // Why the last checkpoint could not be written. Empty if it could, or none was wanted.
  std::string unsaved{};
  // The loss of the last minibatch.
  double loss = 0;
  // The last evaluation. Not set if there are no held-out samples.
  std::optional<Evaluation> held_out;
  // The speed of training, measured after a warm-up, in the longest part that was trained without a
  // checkpoint or an evaluation in between. 0 if it had too few minibatches to measure it.
  double samples_per_second = 0;
  // The duration of training, including evaluations.
  double seconds = 0;
  // For each worker, the most bytes that libtorch's allocator gave it at one time.
  std::vector<std::int64_t> memory;
  // Predicted and measured speed and memory as a table for people to read.
  std::string table;
};

// Trains the network by the plan, and returns when all workers have ended. If a worker fails, all
// workers end, and the first failure is thrown. Sets libtorch's number of threads, so no other
// training or profiling should run at the same time. Throws
//  - BadUsage if network, plan, data and options do not fit together. This is checked before any
//    worker starts, except for samples after the first one;
//  - CannotMeet if the system, the devices or the memory cannot do what is asked for;
//  - TrainingStopped if a training loss is not finite. On a GPU this is noticed some minibatches
//    later. The loss of an evaluation is not checked;
//  - WorkerLost if a worker waited for another worker for longer than `options.patience`;
//  - Error if the code of a layer, of Samples::load or of a callback fails. If it is a layer, the
//    message names the worker, the operation and the layer.
[[nodiscard]] Result train(const Network& network, const Plan& plan, const Data& data,
                           const TrainOptions& options = {});

// One checkpoint in a folder of checkpoints.
struct Checkpoint {
  std::filesystem::path path;  // its own folder
  std::int64_t step = 0;       // minibatches trained, counted in units of Network::batch() samples
  std::int64_t epoch = 0;      // the epoch of the next sample, from 0
  double loss = 0;             // of the last minibatch
  std::optional<double> held_out_loss{};  // of an evaluation of exactly this state
  std::int64_t bytes = 0;                 // of its files
  // What is wrong with it; empty if all its files are as they were written. The members above from
  // `epoch` on are not set if the manifest cannot be read.
  std::string damage{};
};
// Returns the checkpoints in a folder (TrainOptions::checkpoints), ascending by step. Reads all
// their files. Returns nothing if there is no such folder. Throws IoError.
[[nodiscard]] std::vector<Checkpoint> checkpoints(const std::filesystem::path& folder);
// Reads the parameters and buffers of a checkpoint. Throws CannotMeet if there is none in `path`,
// and BadFile if it is damaged.
[[nodiscard]] Weights load_checkpoint(const std::filesystem::path& path);

// Writes tensors to a safetensors file, which Python programs can read. Throws IoError.
void save_weights(const std::filesystem::path& file, const Weights& weights);
// Reads the tensors of a safetensors file to the CPU. Throws IoError if the file cannot be read,
// and BadFile if its content is not that of a safetensors file.
[[nodiscard]] Weights load_weights(const std::filesystem::path& file);

}  // namespace v1
}  // namespace pipedream
