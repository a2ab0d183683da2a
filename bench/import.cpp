// Time of a training step of an exported PyTorch model, and of the built-in network that computes
// the same. bench/import.py exports the models, and compares with PyTorch eager.
//
// usage: bench_import DEVICE BATCH STEPS FILE.pt2 [MODEL [OPTION=VALUE ...]]
// For each line on stdin it trains STEPS minibatches with each network, and prints one JSON object:
// the milliseconds per step. So another program can take turns with it.
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

// Throws BadUsage if the numbers of parameters differ.
void want_same(const model::Network& imported, const model::Network& built_in) {
  const std::int64_t found = model::parameter_count(imported);
  const std::int64_t wanted = model::parameter_count(built_in);
  if (found != wanted)
    throw BadUsage("the networks differ: the exported one has " + std::to_string(found) +
                   " parameters, the built-in one " + std::to_string(wanted));
}

struct Contender {
  std::string name;
  model::Network network;
};

// Makes a worker for each network that has none yet, then measures all in turns.
void measure_in_turns(const std::vector<Contender>& all, at::Device device, std::int64_t steps,
                      std::vector<bench::Steps> workers = {}) {
  if (workers.size() < all.size()) {
    bench::with_worker(all[workers.size()].network, device, model::Precision::kFloat,
                       [&](const bench::Steps& worker) {
                         worker(kWarmUp);
                         workers.push_back(worker);
                         measure_in_turns(all, device, steps, workers);
                       });
    return;
  }
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::ordered_json times;
    for (std::size_t i = 0; i < all.size(); ++i) times[all[i].name + "_ms"] = workers[i](steps);
    std::cout << times.dump() << std::endl;
  }
}

void measure(const std::vector<std::string>& given) {
  const at::Device device = model::device_named(given[0]);
  const std::int64_t batch = std::stoll(given[1]);
  model::require_device(device);
  model::choose_fast_convolutions(device);
  std::vector<Contender> all{{"imported", made(given[3], {}, batch)}};
  if (given.size() > 4) {
    all.push_back(
        {"built_in", made(given[4], options_in({given.begin() + 5, given.end()}), batch)});
    want_same(all[0].network, all[1].network);
  }
  measure_in_turns(all, device, std::stoll(given[2]));
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  if (given.size() < 4) {
    std::cerr << "usage: bench_import DEVICE BATCH STEPS FILE.pt2 [MODEL [OPTION=VALUE ...]]\n";
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
