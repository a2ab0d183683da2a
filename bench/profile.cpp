// How honest are profiles? Compares the sum of the layers' times with the time of the whole model,
// for each network in small. Both are measured in this process; the bar is 5 %.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

#include <nlohmann/json.hpp>

#include "model/keep_memory.h"
#include "model/zoo.h"
#include "profiler/profiler.h"
#include "report/profile_table.h"
#include "report/table.h"

namespace {

using namespace pipedream;

constexpr double kBar = 0.05;
constexpr int kRepetitions = 3;

struct Case {
  std::string name;
  std::int64_t batch;
  std::map<std::string, std::string> options;
};

const std::vector<Case> kCases{
    {"vgg16", 32, {{"image-size", "32"}, {"classes", "10"}}},
    {"resnet50", 16, {{"image-size", "64"}, {"classes", "10"}}},
    {"alexnet", 32, {{"image-size", "64"}, {"classes", "10"}}},
    {"gnmt8", 16, {{"hidden", "256"}, {"vocabulary", "2000"}, {"length", "12"}}},
    {"gnmt16", 16, {{"hidden", "128"}, {"vocabulary", "2000"}, {"length", "12"}}},
    {"gpt",
     8,
     {{"hidden", "256"},
      {"layers", "4"},
      {"heads", "4"},
      {"vocabulary", "2000"},
      {"context", "64"}}},
    {"mlp", 256, {{"hidden", "1024"}}}};

profile::Profile measure(const Case& wanted, at::Device device) {
  const model::NetworkEntry& entry = model::zoo_entry(wanted.name);
  const model::Network network =
      entry.make(model::Options(entry.options, wanted.options), wanted.batch);
  return profiler::profile_network(network,
                                   {.device = device, .budget = std::chrono::duration<double>(10)});
}

}  // namespace

int main(int count, char** arguments) {
  pipedream::model::keep_memory(arguments);
  bool as_json = false;
  at::Device device(at::kCPU);
  for (int i = 1; i < count; ++i) {  // arguments: [--json] [DEVICE]
    if (std::string(arguments[i]) == "--json")
      as_json = true;
    else
      device = at::Device(arguments[i]);
  }
  report::Table table({{"model"},
                       {"whole model", report::Align::kRight},
                       {"sum of layers", report::Align::kRight},
                       {"apart", report::Align::kRight},
                       {"of repetitions"}});
  auto results = nlohmann::ordered_json::array();
  bool all_within = true;
  for (const Case& wanted : kCases) {
    std::vector<std::pair<double, profile::Profile>> runs;
    for (int i = 0; i < kRepetitions; ++i) {
      profile::Profile profile = measure(wanted, device);
      const double error = report::sum_error(profile);
      runs.emplace_back(error, std::move(profile));
    }
    std::sort(runs.begin(), runs.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto& [error, profile] = runs[kRepetitions / 2];
    all_within = all_within && std::abs(error) <= kBar;
    std::string each;
    for (const auto& [one, unused] : runs)
      each += (each.empty() ? "" : ", ") + report::percent(one);
    const Nanos sum = total_forward(profile) + total_backward(profile);
    table.add_row(
        {wanted.name, to_text(*profile.whole), to_text(sum), report::percent(error), each});
    results.push_back({{"model", wanted.name},
                       {"whole_seconds", to_seconds(*profile.whole)},
                       {"sum_seconds", to_seconds(sum)},
                       {"error", error}});
  }
  if (as_json) {
    std::cout << nlohmann::ordered_json{{"bar", kBar}, {"within", all_within}, {"results", results}}
                     .dump(2)
              << "\n";
  } else {
    std::cout << table.text() << "\nmedian of " << kRepetitions << " profiles each; "
              << (all_within ? "all" : "NOT all") << " within " << report::percent(kBar) << "\n";
  }
  return all_within ? 0 : 1;
}
