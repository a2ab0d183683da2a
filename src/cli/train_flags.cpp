#include "cli/train_flags.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "cli/flags.h"
#include "cli/page_flags.h"
#include "core/error.h"
#include "data/data_set.h"
#include "page/live_address.h"
#include "runtime/job.h"
#include "train/request.h"
#include "transport/launcher.h"

namespace pipedream::cli {
namespace {

constexpr double kMostDecay = 0.999999999;  // of an average of weights

// Returns a check for a flag whose value `parse` reads.
template <class Parse>
std::function<std::string(const std::string&)> check_with(Parse parse) {
  return [parse](const std::string& text) -> std::string {
    try {
      (void)parse(text);
      return "";
    } catch (const BadValue& bad) {
      return bad.what();
    }
  };
}

// Those of data::PictureOptions.
void add_image_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  data::PictureOptions& pictures = flags->pictures;
  command.add_option("--augment", pictures.augment,
                     "Change training pictures at random: flip, crop:4 (pixels of padding), "
                     "resized-crop, resized-crop:0.2 (smallest share of the area); several with "
                     "commas [none]");
  command.add_option("--pixel-mean", pictures.pixel_mean,
                     "Mean of the pixels of images:DIR, from 0 to 1, which is subtracted "
                     "[0.485,0.456,0.406]");
  command.add_option("--pixel-deviation", pictures.pixel_deviation,
                     "Their standard deviation, by which is divided [0.229,0.224,0.225]");
  command.add_flag("--skip-bad", pictures.skip_bad,
                   "Decode all files of images:DIR first, and leave out those that are damaged");
}

void add_length_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  const auto count = range<std::int64_t>(1, train::kMostMinibatches, kWholeNumber);
  CLI::Option* minibatches =
      command.add_option("--minibatches", flags->minibatches, "How many to train")->check(count);
  command.add_option("--epochs", flags->epochs, "Passes over the training data [1]")
      ->check(count)
      ->excludes(minibatches);
  command.add_option(
      "--data", flags->data,
      "synthetic, idx:DIR (MNIST's files), cifar:DIR, images:DIR (a folder for each "
      "class), text:FILE, tokens:FILE, pairs:FILE,FILE, safetensors:FILE or npy:FILE,FILE "
      "[synthetic]");
  command
      .add_option(
          "--held-out", flags->held_out,
          "Share of the samples to hold out for the evaluation, taken from the end, or from "
          "each class of images:DIR; 0 holds out none. Only for data without held-out samples of "
          "its own [0.1; idx: "
          "0.2]")
      ->check(range<double>(0, data::kMostHeldOut, "a number"));
  add_image_flags(command, flags);
  command.add_option("--tokeniser", flags->tokeniser,
                     "Of text: bpe:8000 learns that many tokens from the part to train on, and a "
                     "vocabulary.json has them; of tokens: the vocabulary that made them [text: "
                     "bytes; pairs: bpe: as many as the network "
                     "knows]");
}

void add_evaluation_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  const auto count = range<std::int64_t>(1, train::kMostMinibatches, kWholeNumber);
  CLI::Option* none =
      command.add_flag("--no-evaluation", flags->no_evaluation, "Do not evaluate on held-out data");
  const auto add = [&](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->excludes(none);
  };
  add("--evaluate-every", flags->evaluate_every,
      "Evaluate after every this many minibatches [after every epoch]")
      ->check(count);
  add("--evaluation-samples", flags->evaluation_samples,
      "Evaluate on at most this many held-out samples [all]")
      ->check(count);
  CLI::Option* accuracy = add("--target-accuracy", flags->target_accuracy,
                              "End when this share of held-out labels is right, e.g. 0.97")
                              ->check(range<double>(0, 1, "a number"));
  CLI::Option* perplexity = add("--target-perplexity", flags->target_perplexity,
                                "End at this perplexity on held-out data")
                                ->check(range<double>(1, 1e9, "a number"))
                                ->excludes(accuracy);
  add("--target-loss", flags->target_loss, "End at this loss on held-out data")
      ->check(range<double>(0, 1e9, "a number"))
      ->excludes(accuracy)
      ->excludes(perplexity);
  add("--patience-epochs", flags->patience_epochs,
      "End after this many epochs without improvement on held-out data")
      ->check(count);
}

void add_optimiser_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  const auto share = range<double>(0, 1, "a number");
  command
      .add_option("--learning-rate,--lr", flags->learning_rate,
                  "Learning rate [0.01; adam and adamw: 0.001]")
      ->check(range<double>(0, 1e6, "a number"));
  command
      .add_option(
          "--warm-up", flags->warm_up,
          "Raise the learning rate linearly over this many updates (500) or epochs (2epochs)")
      ->check(check_with(train::parse_span));
  command
      .add_option("--learning-rate-decay,--lr-decay", flags->learning_rate_decay,
                  "How the learning rate falls: cosine, cosine:0.1 (down to that share), "
                  "step:30epochs:0.1 (times that, after each such span) or none [none]")
      ->check(check_with(train::parse_decay));
  command.add_flag("--scale-learning-rate", flags->scale_learning_rate,
                   "Multiply the learning rate by the minibatches that an update averages over");
  command.add_option("--momentum", flags->momentum, "Of the optimiser momentum [0.9]")
      ->check(share);
  command
      .add_option("--weight-decay", flags->weight_decay,
                  "How strongly an update pulls weights towards 0 [0]")
      ->check(range<double>(0, 1e6, "a number"));
  command.add_flag("--decay-weights-only", flags->decay_weights_only,
                   "No weight decay for biases and for the scales of normalisations");
  command
      .add_option("--ema", flags->ema,
                  "Keep the exponential moving average of the weights with this decay, e.g. 0.999; "
                  "it is evaluated and exported; 0 keeps none")
      ->check(range<double>(0, kMostDecay, "a number"));
  command
      .add_option("--label-smoothing", flags->label_smoothing,
                  "Share of each label that is spread evenly over all classes; for the loss "
                  "cross-entropy [0]")
      ->check(range<double>(0, 1, "a number"));
  command
      .add_option("--clip", flags->clip,
                  "The largest norm of all gradients of an update (systems that flush)")
      ->check(check_positive);
}

void add_machine_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  command
      .add_option(
          "--workers", flags->workers,
          "Threads that train together [cores / --threads], or as many as GPUs; under mpirun "
          "its processes do")
      ->check(range<int>(1, train::kMostThreads, kWholeNumber));
  command.add_option("--threads", flags->threads, "CPU threads of each worker [1]")
      ->check(range<int>(1, train::kMostThreads, kWholeNumber));
  command.add_option("--cores", flags->cores, kCoresHelp)->check(check_cores);
  command.add_option("--device", flags->device,
                     "cpu; cuda: each worker has the machine's next GPU; cuda:0: that one for all "
                     "[the plan's, the profile's, else cpu]");
  command.add_option("--precision", flags->precision,
                     "fp32, or bf16: products in bfloat16, weights in float "
                     "[the plan's, the profile's, else fp32]");
  command.add_option("--seed", flags->seed, "Of weights, data and dropout [0]")
      ->check(range<std::int64_t>(0, kMostSeed, kWholeNumber));
  command.add_option("--link", flags->link,
                     "Rehearse on links of this speed between workers, e.g. 100Mbit/s");
  command
      .add_option(
          "--patience", flags->patience,
          "Seconds after which a worker that is waited for counts as lost [20 × the longest "
          "simulated wait, at least 10]")
      ->check(range<double>(0.001, runtime::kMostPatience, "a number"));
  command
      .add_option("--profile-seconds", flags->profile_seconds,
                  "Profile the model for about this long, where no --profile is given [5]")
      ->check(range<double>(0.1, 1e6, "a number"));
}

void add_speed_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  command.add_flag(
      "--replan", flags->replan,
      "If a worker becomes slower than the others, or faster again, write a checkpoint "
      "and go on with a new plan; needs --out");
  command
      .add_option("--slow-after", flags->slow_after,
                  "Seconds for which a worker must be slower before it is told of [60]")
      ->check(range<double>(1, 1e6, "a number"));
  command
      .add_option(
          "--straggler", flags->stragglers,
          "Rehearse with a worker that is held back to a part of its speed, e.g. 3:0.5; may "
          "be given several times")
      ->delimiter(',');
}

void add_weights_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  CLI::Option* weights = command.add_option(
      "--weights", flags->initial_weights,
      "Begin with these weights (safetensors), under the names of --export or torchvision");
  command
      .add_option(
          "--fresh", flags->fresh,
          "Leave out tensors of --weights whose names begin so, e.g. classifier.6 for a new "
          "last layer")
      ->delimiter(',')
      ->needs(weights);
}

void add_checkpoint_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  command
      .add_option("--checkpoint-every", flags->checkpoint_every,
                  "Minibatches from one checkpoint to the next, or a time such as 10min, or epoch, "
                  "or never; into --out [epoch]")
      ->check(check_with(checkpoint_interval));
  command
      .add_option("--checkpoint-at", flags->checkpoint_at, "One more after this many minibatches")
      ->check(range<std::int64_t>(1, train::kMostMinibatches, kWholeNumber));
  command
      .add_option("--keep", flags->keep,
                  "How many of the newest checkpoints stay; the best one stays too [3]")
      ->check(range<int>(1, train::kMostKept, kWholeNumber));
  CLI::Option* resume =
      command
          .add_option(
              "--resume", flags->resume,
              "Go on from the newest checkpoint of this run folder; results go there, or to "
              "--out. auto: go on with the run in --out if it has a checkpoint, else begin "
              "it")
          ->check(check_folder_name);
  command
      .add_flag("--force", flags->force,
                "Go on although settings changed that the training depends on")
      ->needs(resume);
}

void add_result_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  command.add_option("--config", flags->config,
                     "Settings: the config.json of an earlier run, or a TOML file with names of "
                     "flags as keys; flags that are given win");
  command.add_option("--set", flags->sets,
                     "A setting as NAME=VALUE, such as learning-rate=0.1; wins over --config, and "
                     "a flag wins over it; may be given several times");
  CLI::Option* out = command
                         .add_option("--out", flags->out,
                                     "Folder for configuration, metrics, timeline and weights")
                         ->check(check_folder_name);
  command
      .add_flag("--overwrite", flags->overwrite,
                "Let --out replace an earlier run; files of others are never touched")
      ->needs(out);
  command.add_option("--export", flags->weights_file, "Write the final weights here (safetensors)")
      ->check(check_output_name);
  add_picture_flags(command, flags);
  add_page_flag(command, flags->page);
  command
      .add_option("--tensorboard", flags->tensorboard,
                  "Write the curves into this folder while training, for TensorBoard")
      ->check(check_folder_name);
  command
      .add_option("--serve", flags->serve,
                  "Show the training to browsers while it runs, at this PORT of this machine's own "
                  "address, or at HOST:PORT; 0 is any free port")
      ->check(check_with(page::parse_live_address));
  add_checkpoint_flags(command, flags);
  add_speed_flags(command, flags);
  add_weights_flags(command, flags);
}

}  // namespace

void add_any_training_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  command.add_option("--model", flags->model,
                     "Network to train: a name ('pipedream models' lists them) or a .pt2 file");
  add_length_flags(command, flags);
  add_optimiser_flags(command, flags);
  add_machine_flags(command, flags);
  add_input_flags(command, flags);
  command.add_flag("--json", flags->as_json, "Print one JSON object instead of the table");
  allow_model_options(command);
}

void add_train_flags(CLI::App& command, const std::shared_ptr<TrainFlags>& flags) {
  add_any_training_flags(command, flags);
  command.get_option("--cluster")->excludes("--link");
  add_evaluation_flags(command, flags);
  command.add_flag("--dry-run", flags->dry_run,
                   "Check flags, model and data; train nothing, and write nothing");
  add_weight_flags(command, flags);
  add_result_flags(command, flags);
  command.get_option("--batch")->description(
      "Samples of a minibatch on one input replica [the model's own; 'pipedream models']");
  CLI::Option* plan = command.add_option("--plan", flags->plan, "Train with this plan (JSON)");
  add_system_flag(command, flags, /*all=*/true)->excludes(plan);
  for (CLI::Option* option : add_planning_flags(command, flags)) option->excludes(plan);
  command
      .add_option("--schedule", flags->schedule,
                  "Train with a schedule of your own instead of the system's (text)")
      ->excludes("--minibatches")
      ->excludes("--epochs")
      ->excludes("--microbatches")
      ->excludes("--vertical-sync")
      ->excludes("--no-stash");
}

std::optional<Bandwidth> link_of(const TrainFlags& flags) {
  if (flags.link.empty()) return std::nullopt;
  return parse_bandwidth(flags.link);
}

CheckpointInterval checkpoint_interval(const std::string& text) {
  if (text.empty() || text == "epoch") return {.epochs = true};
  if (text == "never") return {};
  if (text.find_first_not_of("0123456789") == text.npos) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc{} && count >= 1 && count <= train::kMostMinibatches)
      return {.minibatches = count};
  } else {
    try {
      const Nanos time = parse_duration(text);
      if (time > Nanos{0}) return {.time = time};
    } catch (const BadValue&) {  // said below
    }
  }
  throw BadValue("wanted minibatches from 1 to " + std::to_string(train::kMostMinibatches) +
                 ", a time such as 10min, epoch or never, found '" + printable(text) + "'");
}

train::Goal goal_of(const TrainFlags& flags) {
  train::Goal goal{.patience_epochs = flags.patience_epochs};
  if (flags.target_accuracy)
    goal.target = train::Target{train::Figure::kAccuracy, *flags.target_accuracy};
  if (flags.target_perplexity)
    goal.target = train::Target{train::Figure::kPerplexity, *flags.target_perplexity};
  if (flags.target_loss) goal.target = train::Target{train::Figure::kLoss, *flags.target_loss};
  return goal;
}

train::RateOptions rate_options(const TrainFlags& flags) {
  train::RateOptions options{.scales = flags.scale_learning_rate};
  if (!flags.warm_up.empty()) options.warm_up = train::parse_span(flags.warm_up);
  if (!flags.learning_rate_decay.empty())
    options.decay = train::parse_decay(flags.learning_rate_decay);
  return options;
}

data::DataOptions data_options(const TrainFlags& flags) {
  return {.seed = flags.seed,
          .held_out = flags.held_out,
          .pictures = flags.pictures,
          .tokeniser = flags.tokeniser,
          .processes = std::max(1, transport::this_launcher().here.value_or(1))};
}

train::OptimiserOptions optimiser_options(const TrainFlags& flags) {
  train::OptimiserOptions options;
  if (!flags.optimiser.empty()) options.kind = train::optimiser_kind(flags.optimiser);
  options.learning_rate = flags.learning_rate.value_or(train::default_learning_rate(options.kind));
  if (flags.momentum && options.kind != train::OptimiserKind::kMomentum)
    throw BadUsage("--momentum is for --optimiser momentum, found " + train::to_text(options.kind) +
                   ": leave one of them out");
  options.momentum = flags.momentum.value_or(options.momentum);
  options.weight_decay = flags.weight_decay;
  options.decays_vectors = !flags.decay_weights_only;
  if (flags.ema && *flags.ema > 0) options.ema = flags.ema;  // an average of decay 0 is none
  return options;
}

}  // namespace pipedream::cli
