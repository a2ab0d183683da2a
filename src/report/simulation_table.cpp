#include "report/simulation_table.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/account_text.h"
#include "report/plan_table.h"
#include "report/results.h"
#include "report/table.h"
#include "systems/staleness.h"

namespace pipedream::report {
namespace {

using nlohmann::ordered_json;
using systems::Simulated;
using timeline::WorkerAccount;

constexpr std::size_t kMostLinks = 5;     // only the busiest links are shown
constexpr std::size_t kMostWorkers = 32;  // more workers are not shown one by one

std::string rate(const Simulated& simulated, const profile::Profile& profile) {
  if (simulated.minibatches_per_second <= 0) return "too short a run to tell";
  return rate_text(profile, Seconds(1 / simulated.minibatches_per_second));
}

// Returns nullopt if there is no run of data parallelism, or if one of the runs was too short to
// have a rate.
std::optional<double> speedup(const Simulated& simulated, const Simulated* data_parallel) {
  if (data_parallel == nullptr || data_parallel->minibatches_per_second <= 0 ||
      simulated.minibatches_per_second <= 0)
    return std::nullopt;
  return simulated.minibatches_per_second / data_parallel->minibatches_per_second;
}

constexpr double kMuchReading = 0.05;

std::string reading_note(const timeline::Summary& summary) {
  const Nanos all = summary.busy + summary.idle.total();
  if (to_seconds(summary.reading) <= kMuchReading * to_seconds(all)) return "";
  return fmt::format(
      "\nWorkers wait for the data set {} of the time; `no_loading` leaves that out.\n",
      share_of(summary.reading, all));
}

Table worker_table(const Simulated& simulated, const plan::Plan& plan) {
  Table table(worker_columns({{"memory", Align::kRight}}));
  for (const WorkerAccount& worker : simulated.summary.workers) {
    auto entries = worker_entries(plan, worker, simulated.summary.length);
    entries.push_back(to_text(simulated.memory[worker.worker.index()]));
    table.add_row(std::move(entries));
  }
  return table;
}

std::string links_text(const Simulated& simulated, const cluster::Cluster& cluster) {
  if (simulated.links.empty()) return "";
  Table table({{"link"},
               {"bandwidth", Align::kRight},
               {"sent", Align::kRight},
               {"received", Align::kRight},
               {"busy", Align::kRight}});
  const auto busy = [&](const simulate::LinkTraffic& link) {
    const double whole = to_seconds(simulated.summary.length);
    const double bandwidth = cluster.levels[link.level].bandwidth.bytes_per_second;
    return whole > 0 ? std::max(link.out, link.in) / bandwidth / whole : 0;
  };
  std::vector<simulate::LinkTraffic> links = simulated.links;
  std::stable_sort(links.begin(), links.end(),
                   [&](const auto& a, const auto& b) { return busy(a) > busy(b); });
  for (std::size_t i = 0; i < std::min(kMostLinks, links.size()); ++i)
    table.add_row({link_name(links[i], cluster), to_text(cluster.levels[links[i].level].bandwidth),
                   bytes_text(links[i].out), bytes_text(links[i].in), percent(busy(links[i]))});
  const std::size_t more = links.size() - std::min(kMostLinks, links.size());
  return "\n" + table.text() +
         (more > 0 ? fmt::format("and {} more links that carried less\n", more) : "");
}

// Returns what a user should not overlook: too little memory, and much waiting for the data set.
std::string notes(const Simulated& simulated, const cluster::Cluster& cluster) {
  std::string text;
  for (std::size_t w = 0; w < simulated.memory.size(); ++w)
    if (simulated.memory[w] > cluster.devices[w].memory) {
      text += fmt::format("\nDoes not fit: worker {} needs {}, its device has {}.\n", w,
                          to_text(simulated.memory[w]), to_text(cluster.devices[w].memory));
      break;
    }
  return text + reading_note(simulated.summary);
}

// Returns a line that names the system that is fastest in simulation, and why `auto`, which goes by
// predicted speed, chose another. Returns "" if no system that `auto` may choose is clearly faster
// (systems::kAsFast) than its choice.
std::string faster_note(const systems::SimulatedChoice& choice) {
  if (!choice.chosen) return "";
  const systems::SimulatedCandidate& chosen = choice.candidates[*choice.chosen];
  const double rate = chosen.simulated->minibatches_per_second;
  const systems::SimulatedCandidate* best = nullptr;
  for (const systems::SimulatedCandidate& candidate : choice.candidates) {
    if (!candidate.system->preference || !candidate.simulated) continue;
    const double other = candidate.simulated->minibatches_per_second;
    if (other <= rate * systems::kAsFast) continue;
    if (best == nullptr || other > best->simulated->minibatches_per_second) best = &candidate;
  }
  if (best == nullptr || rate <= 0) return "";
  const bool is_staler = best->system->traits.is_stale() && !chosen.system->traits.is_stale();
  return fmt::format("  in simulation {} is {} faster: {}\n", best->system->name,
                     percent(best->simulated->minibatches_per_second / rate - 1),
                     is_staler ? "its weights are stale (`prefer` speed takes it)"
                               : "predictions do not see what comes late");
}

// Returns the part of the time that draining the pipeline for checkpoints costs. Requires that
// checkpoints are wanted, and that the cost of a drain is known.
double share_of_checkpoints(const Simulated& simulated) {
  const auto every = static_cast<double>(*simulated.checkpoint_every);
  return systems::drain_share(*simulated.drain, Seconds(every / simulated.minibatches_per_second));
}

// Returns the minibatches per second of a training that drains its pipeline for every checkpoint,
// or nullopt if no checkpoints are wanted or if the run was too short to tell.
std::optional<double> rate_with_checkpoints(const Simulated& simulated) {
  if (!simulated.checkpoint_every || !simulated.drain) return std::nullopt;
  return simulated.minibatches_per_second * (1 - share_of_checkpoints(simulated));
}

// Returns what checkpoints cost, as a line of the table; empty if none are wanted.
std::string checkpoints_line(const Simulated& simulated, const profile::Profile& profile) {
  if (!simulated.checkpoint_every) return "";
  const std::string every = grouped_count(*simulated.checkpoint_every, "minibatch", "minibatches");
  const std::optional<double> rate = rate_with_checkpoints(simulated);
  if (!rate) return fmt::format("checkpoints  every {}: too short a run to tell\n", every);
  return fmt::format(
      "checkpoints  every {}: {}; each drains the pipeline, which costs {}, {} of the time\n",
      every, rate_text(profile, Seconds(1 / *rate)),
      to_text(from_seconds(simulated.drain->count())), percent(share_of_checkpoints(simulated)));
}

}  // namespace

std::string simulation_line(const Simulated& simulated, const profile::Profile& profile) {
  return rate(simulated, profile) + "; " + summary_line(simulated.summary);
}

std::string link_name(const simulate::LinkTraffic& link, const cluster::Cluster& cluster) {
  const cluster::Level& level = cluster.levels[link.level];
  const bool of_group = level.shared && link.level > 0;
  const std::string owner = of_group ? cluster.levels[link.level - 1].name : std::string("worker");
  return fmt::format("{} {} in its {}", owner, link.link, level.name);
}

std::string simulation_table(const Simulated& simulated, const plan::Plan& plan,
                             const profile::Profile& profile, const cluster::Cluster& cluster) {
  std::string text = fmt::format("{} on {}: {} {}, simulated\n\n", profile.model, cluster.name,
                                 plan.system, short_config(plan::config_text(plan)));
  const timeline::Summary& summary = simulated.summary;
  text += fmt::format("speed        {}\n", rate(simulated, profile));
  text += fmt::format("utilisation  {}\n", utilisation_text(summary));
  text += fmt::format("on links     {} per minibatch\n", bytes_text(simulated.bytes_per_minibatch));
  text += checkpoints_line(simulated, profile);
  text += fmt::format(
      "simulated    {} in {}: {}, from the first op to the last\n\n",
      simulated.minibatches == 1 ? "1 minibatch" : grouped(simulated.minibatches) + " minibatches",
      grouped(simulated.ops) + " ops", to_text(summary.length));
  if (summary.workers.size() <= kMostWorkers)
    text += worker_table(simulated, plan).text();
  else
    text += fmt::format("{}\n", simulation_line(simulated, profile));
  return text + links_text(simulated, cluster) + notes(simulated, cluster);
}

ordered_json simulation_json(const Simulated& simulated, const plan::Plan& plan,
                             const profile::Profile& profile) {
  const timeline::Summary& summary = simulated.summary;
  ordered_json json = result_head("pipedream-simulation", profile.model, profile.batch);
  json["system"] = plan.system;
  json["config"] = plan::config_text(plan);
  const bool known = simulated.minibatches_per_second > 0;
  json["samples_per_second"] = known && simulated.samples_per_second
                                   ? ordered_json(*simulated.samples_per_second)
                                   : ordered_json();
  json["minibatches_per_second"] =
      known ? ordered_json(simulated.minibatches_per_second) : ordered_json();
  json["samples_per_update"] =
      profile.batch ? ordered_json(simulated.samples_per_update) : ordered_json();
  json["minibatches"] = simulated.minibatches;
  json["drain_seconds"] = simulated.drain ? ordered_json(simulated.drain->count()) : ordered_json();
  if (simulated.checkpoint_every) {
    const std::optional<double> rate = rate_with_checkpoints(simulated);
    json["checkpoint_every"] = *simulated.checkpoint_every;
    json["minibatches_per_second_with_checkpoints"] = rate ? ordered_json(*rate) : ordered_json();
  }
  json["utilisation"] = summary.utilisation();
  json["seconds"] = to_seconds(summary.length);
  json["busy"] = to_seconds(summary.busy);
  json["idle"] = idle_json(summary.idle);
  json["reading"] = to_seconds(summary.reading);
  json["recompute"] = to_seconds(summary.recompute);
  json["workers"] = workers_json(summary);
  json["peak_memory_bytes"] = bytes_json(simulated.memory);
  json["bytes_per_minibatch"] = simulated.bytes_per_minibatch;
  json["bytes_per_sample"] =
      profile.batch
          ? ordered_json(simulated.bytes_per_minibatch / static_cast<double>(*profile.batch))
          : ordered_json();
  auto links = ordered_json::array();
  for (const simulate::LinkTraffic& link : simulated.links)
    links.push_back(
        {{"level", link.level}, {"link", link.link}, {"sent", link.out}, {"received", link.in}});
  json["links"] = links;
  json["events"] = simulated.ops;
  return json;
}

std::string comparison_table(const systems::SimulatedChoice& choice,
                             const profile::Profile& profile, const cluster::Cluster& cluster) {
  Table speeds({{""},
                {"system"},
                {"plan"},
                {"simulated", Align::kRight},
                {"× dp-bsp", Align::kRight},
                {"predicted", Align::kRight},
                {"updates behind", Align::kRight},
                {"memory", Align::kRight},
                {"on links/minibatch", Align::kRight}});
  std::vector<Column> columns{{""}, {"system"}};
  for (const Column& column : time_columns()) columns.push_back(column);
  Table times(std::move(columns));
  const Simulated* dp = choice.data_parallel();
  std::string reading;
  std::string refused;
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    const systems::SimulatedCandidate& candidate = choice.candidates[i];
    const std::string& name = candidate.system->name;
    if (!candidate.simulated) {
      refused += fmt::format("{}: {}\n", name, std::get<plan::Refusal>(candidate.result).why);
      continue;
    }
    const auto& planned = std::get<systems::Planned>(candidate.result);
    const Simulated& of = *candidate.simulated;
    if (reading.empty()) reading = reading_note(of.summary);
    const std::string mark = choice.chosen == i ? "▶" : " ";
    speeds.add_row({mark, name, short_config(plan::config_text(planned.plan)), rate(of, profile),
                    speedup(of, dp) ? fmt::format("{:.2f}", *speedup(of, dp)) : "–",
                    rate_text(profile, planned.times.predicted),
                    staleness_text(systems::largest_staleness(planned.plan)),
                    to_text(*std::max_element(of.memory.begin(), of.memory.end())),
                    bytes_text(of.bytes_per_minibatch)});
    std::vector<std::string> entries{mark, name};
    for (std::string& entry : time_entries(of.summary)) entries.push_back(std::move(entry));
    times.add_row(std::move(entries));
  }
  return fmt::format("{} on {}, simulated\n\n", profile.model, cluster.name) + speeds.text() +
         "\nWhere the workers' time goes\n" + times.text() +
         (refused.empty() ? "" : "\n" + refused) + "\n" + kChoiceLegend + faster_note(choice) +
         reading;
}

ordered_json comparison_json(const systems::SimulatedChoice& choice,
                             const profile::Profile& profile) {
  ordered_json json = result_head("pipedream-comparison", profile.model, profile.batch);
  json["auto"] =
      choice.chosen ? ordered_json(choice.candidates[*choice.chosen].system->name) : ordered_json();
  auto runs = ordered_json::array();
  const Simulated* dp = choice.data_parallel();
  for (const systems::SimulatedCandidate& candidate : choice.candidates) {
    ordered_json run{{"system", candidate.system->name}};
    if (candidate.simulated) {
      const auto& planned = std::get<systems::Planned>(candidate.result);
      run["config"] = plan::config_text(planned.plan);
      run["predicted_minibatches_per_second"] = 1 / planned.times.predicted.count();
      const auto faster = speedup(*candidate.simulated, dp);
      run["speedup_over_dp"] = faster ? ordered_json(*faster) : ordered_json();
      run["staleness"] = systems::largest_staleness(planned.plan);
      run["simulated"] = simulation_json(*candidate.simulated, planned.plan, profile);
    } else {
      run["config"] = nullptr;
      run["refused"] = std::get<plan::Refusal>(candidate.result).why;
      run["simulated"] = nullptr;
    }
    run["measured"] = nullptr;
    runs.push_back(run);
  }
  json["runs"] = runs;
  return json;
}

}  // namespace pipedream::report
