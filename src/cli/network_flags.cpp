#include "cli/network_flags.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/machine.h"
#include "core/nearest.h"
#include "imported/entry.h"
#include "model/zoo.h"

namespace pipedream::cli {
namespace {

// For a flag that other training programs have: a text that says what to use here. Empty for other
// flags.
std::string hint_for(const std::string& flag) {
  static const std::map<std::string, std::string> hints{
      {"--lr-schedule", "the learning rate is constant; --learning-rate sets it"},
      {"--lr-scheduler", "the learning rate is constant; --learning-rate sets it"},
      {"--scheduler", "the learning rate is constant; --learning-rate sets it"},
      {"--batch-size", "--batch says how many samples a minibatch has"},
      {"--micro-batch-size", "--microbatches says how many a minibatch is cut into"},
      {"--gpus", "--device cuda with --workers N trains on N GPUs"},
      {"--nproc", "--workers says how many workers train"},
      {"--num-workers", "--workers says how many workers train"},
      {"--steps", "--minibatches or --epochs says how long to train"},
      {"--max-steps", "--minibatches or --epochs says how long to train"},
      {"--output", "--out names the folder of the run, --export the file of weights"},
      {"--checkpoint",
       "--checkpoint-every says when to write checkpoints, --resume goes on from one"}};
  const auto found = hints.find(flag);
  return found == hints.end() ? "" : " (" + found->second + ")";
}

// The hint for a flag that does not exist: what replaces it, the most similar flag, or the list of
// the model's options.
std::string instead_of(const std::string& flag, const std::vector<model::OptionSpec>& specs,
                       const std::vector<std::string>& known) {
  if (std::string hint = hint_for(flag); !hint.empty()) return hint;
  if (!nearest(flag, known).empty()) return suggestion(flag, known);
  std::string own;
  for (const model::OptionSpec& spec : specs) own += (own.empty() ? " --" : ", --") + spec.name;
  return own.empty() ? " (--help shows what there is)"
                     : " (this model has" + own + "; --help shows the others)";
}

}  // namespace

ModelOptions model_options(const std::vector<std::string>& rest,
                           const std::vector<model::OptionSpec>& specs,
                           std::vector<std::string> known) {
  for (const model::OptionSpec& spec : specs) known.push_back("--" + spec.name);
  ModelOptions options;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::string& flag = rest[i];
    if (!flag.starts_with("--")) throw BadUsage("'" + flag + "' was not expected here");
    const auto equals = flag.find('=');
    const std::string name = flag.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (std::none_of(specs.begin(), specs.end(), [&](const auto& s) { return s.name == name; }))
      throw BadUsage("there is no option --" + name + instead_of("--" + name, specs, known));
    if (equals == std::string::npos && i + 1 == rest.size())
      throw BadUsage(flag + " needs a value");
    const std::string value = equals == std::string::npos ? rest[++i] : flag.substr(equals + 1);
    if (!options.emplace(name, value).second) throw BadUsage("--" + name + " is given twice");
  }
  return options;
}

model::NetworkEntry network_named(const std::string& model) {
  return imported::is_file_name(model) ? imported::entry_of(model) : model::zoo_entry(model);
}

void allow_model_options(CLI::App& command) {
  command.allow_extras();  // model_options() checks the unknown flags
  command.footer("The model's own options follow as flags, e.g. --image-size 32 --classes 10.");
}

std::vector<std::string> flag_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

void check_threads(int threads, int workers) {
  if (threads > cores() / workers)
    throw CannotMeet("--threads " + std::to_string(threads) +
                     (workers > 1 ? " for each of " + std::to_string(workers) + " workers" : "") +
                     ": this machine has " + std::to_string(cores()) + " cores");
}

}  // namespace pipedream::cli
