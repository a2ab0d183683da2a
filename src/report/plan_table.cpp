#include "report/plan_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "report/account_text.h"
#include "report/results.h"
#include "report/table.h"
#include "systems/staleness.h"

namespace pipedream::report {
namespace {

using plan::Limit;
using plan::Prediction;
using plan::StagePrediction;
using systems::Planned;

constexpr std::size_t kWidestEnd = 24;
constexpr double kUselessGap = 1;  // a bound of more than twice the speed says nothing

std::string time_text(Seconds time) { return to_text(from_seconds(time.count())); }

// Returns workers as ascending runs: "0–14", "15", "0–2, 4–6".
std::string worker_text(std::vector<WorkerId> workers) {
  std::sort(workers.begin(), workers.end());
  std::string text;
  for (std::size_t i = 0; i < workers.size();) {
    std::size_t end = i;
    while (end + 1 < workers.size() && workers[end + 1].value == workers[end].value + 1) ++end;
    text += text.empty() ? "" : ", ";
    text += end == i ? std::to_string(workers[i].value)
                     : fmt::format("{}–{}", workers[i].value, workers[end].value);
    i = end + 1;
  }
  return shortened(text, kWidestEnd);
}

std::string layer_text(const graph::Graph& graph, const plan::Stage& stage) {
  const std::string first = shortened(graph.layer(stage.layers.front()).name, kWidestEnd);
  const std::string last = shortened(graph.layer(stage.layers.back()).name, kWidestEnd);
  return stage.layers.size() == 1 ? first
                                  : fmt::format("{} … {} ({})", first, last, stage.layers.size());
}

Table stage_table(const plan::PlanFile& file, const graph::Graph& graph) {
  Table table({{"stage", Align::kRight},
               {"layers"},
               {"replicas", Align::kRight},
               {"workers"},
               {"compute", Align::kRight},
               {"per minibatch", Align::kRight},
               {"weights", Align::kRight},
               {"memory", Align::kRight},
               {"in flight", Align::kRight}});
  for (std::size_t s = 0; s < file.plan.stages.size(); ++s) {
    const plan::Stage& stage = file.plan.stages[s];
    const plan::Predicted::OfStage& of = file.predicted.stages.at(s);
    const auto replicas = static_cast<double>(stage.workers.size());
    table.add_row({std::to_string(s), layer_text(graph, stage),
                   std::to_string(stage.workers.size()), worker_text(stage.workers),
                   time_text(Seconds(of.seconds)), time_text(Seconds(of.seconds) / replicas),
                   to_text(of.weights),
                   to_text(of.memory) + (stage.recompute ? " (recomputes)" : ""),
                   std::to_string(stage.depth)});
  }
  return table;
}

std::string link_text(const Prediction& prediction, const cluster::Cluster& cluster) {
  const cluster::Level& level = cluster.levels[prediction.busiest.level];
  const bool of_group = level.shared && prediction.busiest.level > 0;
  const std::string owner =
      of_group ? cluster.levels[prediction.busiest.level - 1].name : std::string("worker");
  return fmt::format("the link of {} {} in its {} ({}): {} per minibatch", owner,
                     prediction.busiest.link, level.name, to_text(level.bandwidth),
                     bytes_text(prediction.busiest.bytes));
}

std::string limit_text(const Prediction& prediction, const cluster::Cluster& cluster) {
  const std::string stage = "stage " + std::to_string(prediction.limiting_stage);
  switch (prediction.limit) {
    case Limit::kCompute:
      return "the compute of " + stage;
    case Limit::kExchange:
      return "the averaging of " + stage + "'s gradients";
    case Limit::kLink:
      return link_text(prediction, cluster);
    case Limit::kLoop:
      return fmt::format("the way of a minibatch from {} to the end and back with {} in flight",
                         stage, prediction.stages[prediction.limiting_stage].depth);
    case Limit::kLatency:
      return prediction.microbatches > 1
                 ? fmt::format("filling and draining the pipeline for {} microbatches",
                               prediction.microbatches)
                 : std::string("one minibatch passing all stages, forth and back");
  }
  return {};
}

std::string proof_text(const Planned& planned) {
  const double gap = *planned.answer.gap();
  const std::string where = planned.every_cut ? "" : " (cuts along one order of a wide network)";
  if (gap > kUselessGap) return "how much faster another plan could be is not known" + where;
  if (gap < 5e-5) return "best of its kind, proved" + where;
  return "within " + percent(gap) + " of the best of its kind" + where;
}

std::string accumulation_text(const plan::Plan& plan) {
  if (plan.accumulate == 1) return {};
  return fmt::format("an update has {} minibatches of each input replica\n", plan.accumulate);
}

std::string prediction_text(const Planned& planned, const profile::Profile& profile,
                            const cluster::Cluster& cluster) {
  const Prediction& prediction = planned.answer.prediction;
  const systems::Times& times = planned.times;
  const auto line = [&](const char* title, Seconds time) {
    return fmt::format("{:<12}{} per minibatch, {}\n", title, time_text(time),
                       rate_text(profile, time));
  };
  std::string text = line("predicted", times.predicted);
  if (times.simulated) text += line("simulated", *times.simulated);
  if (planned.data_parallel)
    text += fmt::format("            {:.2f} × data parallelism ({} per minibatch)\n",
                        speedup(times, *planned.data_parallel),
                        time_text(best_estimate(*planned.data_parallel)));
  else
    text += "            data parallelism does not fit the memory\n";
  if (planned.cost_model == cost::CostModel::kDefault)
    text += "limited by  " + limit_text(prediction, cluster) + "\n";
  else
    text += fmt::format("            by the cost model '{}'; by ours {}\n",
                        cost::cost_model_names()[static_cast<std::size_t>(planned.cost_model)],
                        time_text(prediction.per_minibatch));
  text += fmt::format("on links    {} per minibatch\n", bytes_text(prediction.bytes_per_minibatch));
  if (planned.plan.microbatches > 1)
    text += fmt::format("each minibatch is cut into {} microbatches\n", planned.plan.microbatches);
  text += accumulation_text(planned.plan);
  return planned.answer.gap() ? text + "quality     " + proof_text(planned) + "\n" : text;
}

// Returns what takes longest on a stage, per minibatch.
std::string stage_limit(const StagePrediction& of, const plan::Plan& plan) {
  const double compute = (of.forward + of.backward).count();
  const double exchange = of.exchange.count() / plan.accumulate;
  const double transfer = of.transfer.count() * plan.microbatches;
  if (compute >= exchange && compute >= transfer) return "compute";
  return exchange >= transfer ? "averaging" : "transfer";
}

std::string explanation(const Planned& planned) {
  Table time({{"stage", Align::kRight},
              {"forward", Align::kRight},
              {"backward", Align::kRight},
              {planned.plan.accumulate > 1 ? "averaging, per update" : "averaging, per round",
               Align::kRight},
              {"sends, per minibatch", Align::kRight},
              {"one transfer", Align::kRight},
              {"longest"}});
  Table memory({{"stage", Align::kRight},
                {"weights", Align::kRight},
                {"gradients", Align::kRight},
                {"optimiser", Align::kRight},
                {"activations", Align::kRight},
                {"received", Align::kRight},
                {"working", Align::kRight},
                {"in all", Align::kRight},
                {"of", Align::kRight},
                {""}});
  for (std::size_t s = 0; s < planned.plan.stages.size(); ++s) {
    const StagePrediction& of = planned.answer.prediction.stages[s];
    const auto replicas = static_cast<double>(planned.plan.stages[s].workers.size());
    const std::string number = std::to_string(s);
    time.add_row({number, time_text(of.forward), time_text(of.backward),
                  replicas > 1 ? time_text(of.exchange) : "–",
                  of.sent_bytes > 0 ? bytes_text(of.sent_bytes) : "–",
                  of.sent_bytes > 0 ? time_text(of.transfer) : "–", stage_limit(of, planned.plan)});
    const double share =
        static_cast<double>(of.memory.total().count) / static_cast<double>(of.memory_limit.count);
    memory.add_row({number, to_text(of.memory.weights), to_text(of.memory.gradients),
                    to_text(of.memory.optimiser), to_text(of.memory.activations),
                    to_text(of.memory.buffers), to_text(of.memory.working),
                    to_text(of.memory.total()), to_text(of.memory_limit), percent(share)});
  }
  return "\nTime of one minibatch on one replica\n" + time.text() +
         "\nMemory of one worker at its peak\n" + memory.text();
}

// Returns the memory of the worker that needs most. The stages of a worker add up.
Bytes largest_memory(const Planned& planned) {
  std::map<WorkerId, Bytes> used;
  for (std::size_t s = 0; s < planned.plan.stages.size(); ++s)
    for (const WorkerId worker : planned.plan.stages[s].workers)
      used[worker] += planned.answer.prediction.stages[s].memory.total();
  Bytes most;
  for (const auto& [worker, bytes] : used) most = std::max(most, bytes);
  return most;
}

}  // namespace

std::string rate_text(const profile::Profile& profile, Seconds per_minibatch) {
  const double rate = static_cast<double>(profile.batch.value_or(1)) / per_minibatch.count();
  const std::string number = rate < 1000 ? fmt::format("{:.4g}", rate)
                                         : grouped(static_cast<std::int64_t>(std::llround(rate)));
  return number + (profile.batch ? " samples/s" : " minibatches/s");
}

std::string plan_table(const Planned& planned, const profile::Profile& profile,
                       const cluster::Cluster& cluster, bool explain) {
  std::string text = fmt::format("{} on {}: {} {}\n\n", profile.model, cluster.name, planned.system,
                                 plan::config_text(planned.plan));
  const plan::PlanFile file =
      systems::plan_file_of(planned, profile, cluster.workers(), Seconds(0));
  text += stage_table(file, profile.graph).text() + "\n";
  text += prediction_text(planned, profile, cluster);
  return explain ? text + explanation(planned) : text;
}

std::string plan_file_table(const plan::PlanFile& file, const graph::Graph& graph) {
  const plan::Predicted& predicted = file.predicted;
  std::string text = fmt::format("{} on {}: {} {}\n\n", file.model,
                                 grouped_count(file.workers, "worker", "workers"), file.plan.system,
                                 plan::config_text(file.plan));
  text += stage_table(file, graph).text();
  text += fmt::format("\npredicted   {} per minibatch",
                      time_text(Seconds(predicted.seconds_per_minibatch)));
  if (predicted.samples_per_second)
    text += fmt::format(", {} samples/s",
                        grouped(static_cast<std::int64_t>(*predicted.samples_per_second)));
  if (predicted.speedup_over_dp)
    text += fmt::format(", {:.2f} × data parallelism", *predicted.speedup_over_dp);
  text += "\n";
  if (predicted.simulated_seconds_per_minibatch)
    text += fmt::format("simulated   {} per minibatch\n",
                        time_text(Seconds(*predicted.simulated_seconds_per_minibatch)));
  if (file.plan.microbatches > 1)
    text += fmt::format("each minibatch is cut into {} microbatches\n", file.plan.microbatches);
  return text + accumulation_text(file.plan);
}

std::string candidate_table(const systems::Choice& choice, const profile::Profile& profile) {
  Table table({{""},
               {"system"},
               {"plan"},
               {"predicted", Align::kRight},
               {"simulated", Align::kRight},
               {"rate", Align::kRight},
               {"× dp-bsp", Align::kRight},
               {"updates behind", Align::kRight},
               {"most memory", Align::kRight},
               {"minibatches/update", Align::kRight}});
  std::string refused;
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    const systems::Candidate& candidate = choice.candidates[i];
    const auto* planned = std::get_if<Planned>(&candidate.result);
    if (planned == nullptr) {
      refused += fmt::format("{}: {}\n", candidate.system->name,
                             std::get<plan::Refusal>(candidate.result).why);
      continue;
    }
    const Bytes most = largest_memory(*planned);
    const systems::Times& times = planned->times;
    table.add_row({choice.best == i ? "▶" : " ", planned->system,
                   short_config(plan::config_text(planned->plan)), time_text(times.predicted),
                   times.simulated ? time_text(*times.simulated) : "–",
                   rate_text(profile, best_estimate(times)),
                   planned->data_parallel
                       ? fmt::format("{:.2f}", speedup(times, *planned->data_parallel))
                       : "–",
                   staleness_text(systems::largest_staleness(planned->plan)), to_text(most),
                   fmt::format("{:g}", planned->answer.prediction.minibatches_per_update)});
  }
  return table.text() + (refused.empty() ? "" : "\n" + refused) + "\n" + kChoiceLegend;
}

std::string short_config(const std::string& config) {
  constexpr std::size_t kShort = 5;  // "1-1-1"
  const bool straight = config.find_first_not_of("1-") == std::string::npos;
  if (straight && config.size() > kShort) return fmt::format("1×{}", (config.size() + 1) / 2);
  return shortened(config, kWidestEnd);
}

}  // namespace pipedream::report
