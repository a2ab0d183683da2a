// Time of a training step of an exported PyTorch model, and of the built-in network that computes
// the same. The two take turns in one process. bench/import.py exports the models, and compares
// with PyTorch eager.
//
// usage: bench_import DEVICE BATCH STEPS ROUNDS FILE.pt2 [MODEL [OPTION=VALUE ...]]
// prints one JSON object: milliseconds per step of each round
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/network_flags.h"
#include "core/error.h"
#include "model/device.h"
#include "one_worker.h"

namespace {

using namespace pipedream;

constexpr std::int64_t kWarmUp = 3;

model::Network made(const std::string& name, const cli::ModelOptions& options, std::int64_t batch) {
  const model::NetworkEntry entry = cli::network_named(name);
  return entry.make(model::Options(entry.options, options), batch);
}

cli::ModelOptions options_in(const std::vector<std::string>& words) {
  cli::ModelOptions options;
  for (const std::string& word : words) {
    const auto at = word.find('=');
    if (at == std::string::npos) throw BadUsage("wanted OPTION=VALUE, found '" + word + "'");
    options[word.substr(0, at)] = word.substr(at + 1);
  }
  return options;
}

// Times of the rounds, by name: each network trains `steps` minibatches in each round.
struct Times {
  std::vector<double> imported;
  std::vector<double> built_in;
};

Times measured(const model::Network& imported, const std::optional<model::Network>& built_in,
               at::Device device, std::int64_t steps, std::int64_t rounds) {
  Times times;
  const auto with = [&](const model::Network& network, const auto& body) {
    bench::with_worker(network, device, model::Precision::kFloat, body);
  };
  with(imported, [&](const bench::Steps& run_imported) {
    run_imported(kWarmUp);
    const auto take_turns = [&](const bench::Steps& run_built_in) {
      if (run_built_in) run_built_in(kWarmUp);
      for (std::int64_t round = 0; round < rounds; ++round) {
        times.imported.push_back(run_imported(steps));
        if (run_built_in) times.built_in.push_back(run_built_in(steps));
      }
    };
    if (built_in) {
      with(*built_in, take_turns);
    } else {
      take_turns(nullptr);
    }
  });
  return times;
}

void measure(const std::vector<std::string>& given) {
  const at::Device device = model::device_named(given[0]);
  const std::int64_t batch = std::stoll(given[1]);
  model::require_device(device);
  model::choose_fast_convolutions(device);
  const model::Network imported = made(given[4], {}, batch);
  std::optional<model::Network> built_in;
  if (given.size() > 5) {
    built_in = made(given[5], options_in({given.begin() + 6, given.end()}), batch);
    if (model::parameter_count(*built_in) != model::parameter_count(imported))
      throw BadUsage("the networks differ: the exported one has " +
                     std::to_string(model::parameter_count(imported)) +
                     " parameters, the built-in one " +
                     std::to_string(model::parameter_count(*built_in)));
  }
  const Times times =
      measured(imported, built_in, device, std::stoll(given[2]), std::stoll(given[3]));
  std::cout << nlohmann::ordered_json{{"imported_ms", times.imported},
                                      {"built_in_ms", times.built_in}}
                   .dump()
            << "\n";
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  if (given.size() < 5) {
    std::cerr << "usage: bench_import DEVICE BATCH STEPS ROUNDS FILE.pt2 [MODEL [OPTION=VALUE "
                 "...]]\n";
    return 2;
  }
  try {
    measure(given);
  } catch (const Error& error) {
    std::cerr << "bench import: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
