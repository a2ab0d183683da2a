// pipedream profile: measures a model layer by layer, or shows a profile that exists.
#include <iostream>
#include <map>
#include <optional>

#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include "cli/commands.h"
#include "cli/progress.h"
#include "core/error.h"
#include "core/file.h"
#include "model/zoo.h"
#include "profile/profile_file.h"
#include "profiler/profiler.h"
#include "report/profile_table.h"

namespace pipedream::cli {
namespace {

constexpr std::size_t kMostRows = 60;

struct Flags {
  std::string model;
  std::string file;
  std::optional<std::int64_t> batch;
  std::string device = "cpu";
  int threads = 1;
  std::uint64_t seed = 0;
  double seconds = 20;
  std::string output;
  bool as_json = false;
  bool all = false;
};

// "--image-size 32 --classes=10" → {image-size: 32, classes: 10}.
std::map<std::string, std::string> model_options(const std::vector<std::string>& rest) {
  std::map<std::string, std::string> options;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::string& flag = rest[i];
    if (!flag.starts_with("--")) throw BadUsage("'" + flag + "' was not expected here");
    const auto equals = flag.find('=');
    const std::string name = flag.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (equals == std::string::npos && i + 1 == rest.size())
      throw BadUsage(flag + " needs a value");
    options[name] = equals == std::string::npos ? rest[++i] : flag.substr(equals + 1);
  }
  return options;
}

at::Device device_of(const std::string& text) {
  try {
    return at::Device(text);
  } catch (const c10::Error&) {
    throw BadUsage("--device: wanted 'cpu' or 'cuda:0', found '" + text + "'");
  }
}

profile::Profile measure(const Flags& flags, const std::vector<std::string>& rest) {
  const model::ZooEntry& entry = model::zoo_entry(flags.model);
  const model::Options options(entry.options, model_options(rest));
  const model::Network network = entry.make(options, flags.batch.value_or(entry.batch));
  Progress progress("profiling " + entry.name);
  return profiler::profile_network(
      network,
      {.device = device_of(flags.device),
       .threads = flags.threads,
       .seed = flags.seed,
       .budget = std::chrono::duration<double>(flags.seconds),
       .progress = [&](double share, const std::string& what) { progress.show(share, what); }});
}

profile::Profile read(const Flags& flags, const std::vector<std::string>& rest) {
  if (!rest.empty()) throw BadUsage("'" + rest.front() + "' is for --model, not for --profile");
  profile::Profile profile = profile::read_profile(flags.file);
  if (flags.batch && profile.batch && *flags.batch != *profile.batch)
    throw CannotMeet("--batch " + std::to_string(*flags.batch) + ": " + flags.file +
                     " was measured with " + std::to_string(*profile.batch) +
                     "; profile the model anew");
  if (flags.batch) profile.batch = flags.batch;
  return profile;
}

void execute(const Flags& flags, const std::vector<std::string>& rest) {
  if (flags.model.empty() == flags.file.empty())
    throw BadUsage("profile: wanted either --model NAME to measure or --profile FILE to show");
  const profile::Profile profile = flags.model.empty() ? read(flags, rest) : measure(flags, rest);
  const std::string json = profile::to_json(profile);
  if (!flags.output.empty()) write_file_atomically(flags.output, json);
  std::cout << (flags.as_json ? json
                              : report::profile_table(profile, flags.all ? SIZE_MAX : kMostRows));
  if (!flags.output.empty()) std::cerr << "written to " << flags.output << "\n";
}

}  // namespace

void add_profile(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("profile", "Measure a model layer by layer, or show a profile");
  const auto flags = std::make_shared<Flags>();
  command->add_option("--model", flags->model,
                      "Network to measure ('pipedream models' lists them)");
  command->add_option("--profile", flags->file,
                      "Profile to show instead: ours (JSON) or PipeDream's graph text");
  command->add_option("--batch", flags->batch, "Samples of one minibatch")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  command->add_option("--device", flags->device, "cpu or cuda:0")->capture_default_str();
  command->add_option("--threads", flags->threads, "Threads of one worker on CPU")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--seed", flags->seed, "Of the weights and the made-up data")
      ->capture_default_str();
  command->add_option("--seconds", flags->seconds, "Stop measuring after about this time")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  command->add_option("-o", flags->output, "Write the profile to this file (JSON)");
  command->add_flag("--json", flags->as_json, "Print the profile as JSON instead of the table");
  command->add_flag("--all", flags->all, "Show all layers, however many");
  command->allow_extras();  // the model's own options; checked against its list
  command->footer("The model's own options follow as flags, e.g. --image-size 32 --classes 10.");
  command->callback([flags, command] { execute(*flags, command->remaining()); });
}

}  // namespace pipedream::cli
