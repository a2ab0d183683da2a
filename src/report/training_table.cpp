#include "report/training_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/account_text.h"
#include "report/plan_table.h"
#include "report/results.h"
#include "report/score_words.h"
#include "report/table.h"

namespace pipedream::report {
namespace {

using nlohmann::ordered_json;
using systems::Measured;

std::string rate_text(double rate) {
  return rate > 0 ? three_digits(rate) + " samples/s" : "too short a run to tell";
}

bool times_all(const Measured& measured) {
  return measured.first_timed == 0 && measured.timed_end == measured.minibatches;
}

// Returns which minibatches the times are of: "all minibatches", or "minibatches 40–49 of 0–99".
// They are numbered as in pictures and metrics.
std::string timed_text(const Measured& measured) {
  const auto [first, end] = std::pair(measured.first_timed, measured.timed_end);
  if (first == end) return "nothing: no minibatch was left to train";
  if (times_all(measured)) return "all minibatches";
  const std::string timed = first + 1 == end ? fmt::format("minibatch {}", first)
                                             : fmt::format("minibatches {}–{}", first, end - 1);
  return fmt::format("{} of 0–{}", timed, measured.minibatches - 1);
}

// Returns the memory of each worker by the simulator or, if nothing was simulated, by the plan,
// with its copy of the state for checkpoints. Empty if neither is known.
std::vector<Bytes> predicted_memory(const TrainingRun& run) {
  std::vector<Bytes> memory(static_cast<std::size_t>(plan::worker_count(run.plan)));
  if (run.simulated) {
    memory = run.simulated->memory;
  } else {
    if (run.stage_memory.size() != run.plan.stages.size()) return {};
    for (std::size_t s = 0; s < run.plan.stages.size(); ++s)
      for (const WorkerId worker : run.plan.stages[s].workers)
        memory[worker.index()] += run.stage_memory[s];
  }
  for (std::size_t w = 0; w < run.copies.size(); ++w) memory.at(w) += run.copies[w];
  return memory;
}

std::optional<double> seconds_of(const std::optional<Seconds>& time) {
  return time ? std::optional(time->count()) : std::nullopt;
}

// Returns what the simulator says that a drain costs; nullopt if it does not say.
std::optional<double> simulated_drain(const TrainingRun& run) {
  return run.simulated ? seconds_of(run.simulated->drain) : std::nullopt;
}

// Returns how many checkpoints were written and what draining the pipeline cost for each, as a line
// of the table. Empty if there was none.
std::string checkpoints_line(const TrainingRun& run) {
  const Measured& measured = run.measured;
  if (measured.checkpoints == 0) return "";
  std::string text = fmt::format("checkpoints  {} written", grouped(measured.checkpoints));
  // Systems that flush drain for every update anyway, and after the last checkpoint nothing
  // follows.
  if (systems::find_system(run.plan.system).traits.flushes || measured.checkpoints == 1)
    return text + "\n";
  const auto time = [](double seconds) { return to_text(from_seconds(seconds)); };
  std::vector<std::string> costs;
  if (measured.drain && *measured.drain > Seconds(0))
    costs.push_back("costs " + time(measured.drain->count()));
  if (run.predicted_drain) costs.push_back("predicted " + time(*run.predicted_drain));
  if (const auto drain = simulated_drain(run)) costs.push_back("simulated " + time(*drain));
  for (std::size_t i = 0; i < costs.size(); ++i)
    text += (i == 0 ? "; draining the pipeline for one: " : ", ") + costs[i];
  return text + "\n";
}

// Returns the plans that the training took before the one it ended with, one line each.
std::string earlier_lines(const TrainingRun& run) {
  std::string text;
  for (const EarlierPlan& plan : run.earlier)
    text += fmt::format("before       {} up to minibatch {}, {}\n", short_config(plan.config),
                        grouped(plan.until), rate_text(plan.samples_per_second));
  return text;
}

ordered_json earlier_json(const TrainingRun& run) {
  ordered_json json = ordered_json::array();
  for (const EarlierPlan& plan : run.earlier)
    json.push_back({{"config", plan.config},
                    {"until_minibatch", plan.until},
                    {"samples_per_second", plan.samples_per_second}});
  return json;
}

// Compares two speeds: "97.0 % of the predicted 512 samples/s". Empty if one is not known.
std::string against(double measured, const std::optional<double>& expected, const char* what) {
  if (!expected || *expected <= 0 || measured <= 0) return "";
  return fmt::format("{} of the {} {} samples/s", percent(measured / *expected), what,
                     three_digits(*expected));
}

// Returns the simulated samples per second, or nullopt if nothing was simulated or the simulated
// run was too short to have a rate.
std::optional<double> simulated_rate(const TrainingRun& run) {
  const auto rate = run.simulated ? run.simulated->samples_per_second : std::nullopt;
  return rate && *rate > 0 ? rate : std::nullopt;
}

std::string rate_entry(const std::optional<double>& rate) {
  return rate && *rate > 0 ? three_digits(*rate) : "–";
}

std::string speed_text(const TrainingRun& run) {
  std::string text = rate_text(run.measured.samples_per_second);
  const double rate = run.measured.samples_per_second;
  for (const std::string& part :
       {against(rate, run.predicted, "predicted"), against(rate, simulated_rate(run), "simulated")})
    if (!part.empty()) text += ", " + part;
  return text;
}

// Returns why a small network is slower than its simulation says, as a line of the table. Empty if
// the network is not small, or not much slower. Predictions leave out what it costs to run an op
// and to pass a message (`./run bench op_cost`), which is little beside the layers of larger
// networks.
std::string small_network_line(const TrainingRun& run) {
  constexpr double kSmall = 0.005;  // predicted seconds per update
  constexpr double kMuchSlower = 0.8;
  const std::optional<double> simulated = simulated_rate(run);
  const double rate = run.measured.samples_per_second;
  if (!simulated || rate <= 0 || rate > kMuchSlower * *simulated) return "";
  const double predicted = run.measured.samples_per_update / *simulated;
  if (predicted > kSmall) return "";
  return fmt::format(
      "small        {} per update are predicted; predictions leave out what it costs to run an op "
      "and to pass a message\n",
      to_text(from_seconds(predicted)));
}

// The compute time of a worker, or of all, per sample.
double busy_per_sample(Nanos busy, double samples) { return to_seconds(busy) / samples; }

// The samples that the times of a run are of.
double timed_samples(const TrainingRun& run) {
  return static_cast<double>((run.measured.timed_end - run.measured.first_timed) * run.batch);
}

double simulated_samples(const TrainingRun& run) {
  const cost::Replicas replicas = systems::find_system(run.plan.system).traits.replicas;
  return static_cast<double>(run.simulated->minibatches *
                             systems::minibatches_in_one(run.plan, replicas) * run.batch);
}

// Returns by how much compute took longer than simulated, which is what the profile says: 1.25 for
// a quarter longer. nullopt if nothing was simulated or measured.
std::optional<double> compute_ratio(const TrainingRun& run) {
  if (!run.simulated || run.simulated->summary.busy <= Nanos{0}) return std::nullopt;
  if (timed_samples(run) <= 0 || run.measured.summary.busy <= Nanos{0}) return std::nullopt;
  return busy_per_sample(run.measured.summary.busy, timed_samples(run)) /
         busy_per_sample(run.simulated->summary.busy, simulated_samples(run));
}

// The worker whose compute_ratio() is largest, with that ratio.
std::pair<WorkerId, double> slowest_worker(const TrainingRun& run) {
  std::pair<WorkerId, double> slowest{WorkerId{0}, 0};
  for (const timeline::WorkerAccount& worker : run.measured.summary.workers)
    for (const timeline::WorkerAccount& other : run.simulated->summary.workers) {
      if (other.worker != worker.worker || other.busy <= Nanos{0}) continue;
      const double ratio = busy_per_sample(worker.busy, timed_samples(run)) /
                           busy_per_sample(other.busy, simulated_samples(run));
      if (ratio > slowest.second) slowest = {worker.worker, ratio};
    }
  return slowest;
}

// Returns why a run was not as fast as simulated, as a line of the table: the machine computed
// slower or faster than when it was profiled, or the workers waited for longer. Empty if the run
// was about as fast, if it was faster for another reason, or if a line says already that the
// network is small.
std::string speed_gap_line(const TrainingRun& run) {
  constexpr double kAbout = 0.05;
  const std::optional<double> simulated = simulated_rate(run);
  const std::optional<double> ratio = compute_ratio(run);
  const double rate = run.measured.samples_per_second;
  if (!simulated || !ratio || rate <= 0 || std::abs(rate / *simulated - 1) <= kAbout) return "";
  if (!small_network_line(run).empty()) return "";
  const bool was_faster = rate > *simulated;
  if (was_faster && *ratio < 1 - kAbout)
    return fmt::format(
        "compute      took {} less than the profile says: the machine was faster than when it was "
        "profiled\n",
        percent(1 - *ratio));
  if (!was_faster && *ratio > 1 + kAbout) {
    const auto [worker, most] = slowest_worker(run);
    return fmt::format(
        "compute      took {} longer than the profile says (worker {}: {}): the machine was slower "
        "than when it was profiled\n",
        percent(*ratio - 1), worker.value, percent(most - 1));
  }
  if (was_faster) return "";
  return fmt::format(
      "idle         {} of the workers' time, {} simulated: what they waited for came later than "
      "planned\n",
      percent(1 - run.measured.summary.utilisation()),
      percent(1 - run.simulated->summary.utilisation()));
}

std::string result_text(const Measured& measured) {
  std::string text = four_decimals(measured.loss) + " in the last minibatch";
  if (measured.held_out_loss)
    text += "; held-out loss " + score_words({*measured.held_out_loss, measured.accuracy,
                                              measured.top5, measured.perplexity});
  return text;
}

// Returns a figure of held-out data as people read it: "97.1 % right", "perplexity 30.2".
std::string figure_text(const systems::GoalResult& goal, double value) {
  if (goal.figure == "accuracy") return percent(value) + " right";
  return goal.figure + " " + four_decimals(value);
}

// Returns whether the target was reached, when, and why the training ended, as lines of the table.
std::string goal_lines(const TrainingRun& run) {
  if (!run.measured.goal) return "";
  const systems::GoalResult& goal = *run.measured.goal;
  const std::string when = fmt::format(
      "after {}, {}{}", grouped_count(goal.samples, "sample", "samples"),
      to_text(from_seconds(goal.training.count())),
      run.measured.resumed_at > 0 ? " of training since it was resumed" : " of training");
  const std::string best = goal.best ? figure_text(goal, *goal.best) : "no number";
  std::string text;
  if (goal.wanted && goal.reached)
    text += fmt::format("target       reached {}: {}, wanted {}\n", when, best,
                        figure_text(goal, *goal.wanted));
  else if (goal.wanted)
    text += fmt::format("target       not reached: {} at best, wanted {}\n", best,
                        figure_text(goal, *goal.wanted));
  if (goal.stalled_epochs)
    text += fmt::format("ended        {}: no better than {} in the last {}\n", when, best,
                        grouped_count(*goal.stalled_epochs, "epoch", "epochs"));
  return text;
}

std::string staleness_text(const systems::Staleness& staleness) {
  return staleness.most == 0 ? "none" : fmt::format("{:.1f}", staleness.mean);
}

Table worker_table(const TrainingRun& run) {
  Table table(worker_columns({{"memory", Align::kRight},
                              {"predicted", Align::kRight},
                              {"updates behind", Align::kRight}}));
  const std::vector<Bytes> predicted = predicted_memory(run);
  for (const timeline::WorkerAccount& worker : run.measured.summary.workers) {
    const std::size_t w = worker.worker.index();
    std::string stale;
    for (std::size_t s = 0; s < run.plan.stages.size(); ++s) {
      const auto& workers = run.plan.stages[s].workers;
      if (std::find(workers.begin(), workers.end(), worker.worker) == workers.end()) continue;
      stale += (stale.empty() ? "" : ", ") + staleness_text(run.measured.staleness[s]);
    }
    auto entries = worker_entries(run.plan, worker, run.measured.summary.length);
    entries.push_back(to_text(run.measured.memory[w]));
    entries.push_back(predicted.empty() ? "–" : to_text(predicted[w]));
    entries.push_back(std::move(stale));
    table.add_row(std::move(entries));
  }
  return table;
}

// Returns the staleness of the stage that is furthest behind.
systems::Staleness furthest_behind(const Measured& measured) {
  systems::Staleness furthest;
  for (const systems::Staleness& of : measured.staleness)
    if (of.mean > furthest.mean) furthest = of;
  return furthest;
}

std::string samples_per_update_text(const Measured& measured) {
  return grouped(static_cast<std::int64_t>(measured.samples_per_update));
}

// Which columns the first table of a comparison has besides those that it always has.
struct Shown {
  bool held_out = false;
  bool target = false;
};

// Returns the columns of the comparison's first table.
std::vector<Column> speed_columns(const Shown& shown) {
  std::vector<Column> columns{{""},
                              {"system"},
                              {"plan"},
                              {"samples/s", Align::kRight},
                              {"simulated", Align::kRight},
                              {"× dp-bsp", Align::kRight},
                              {"samples/update", Align::kRight},
                              {"updates behind", Align::kRight},
                              {"loss", Align::kRight}};
  if (shown.held_out) columns.push_back({"held-out loss", Align::kRight});
  if (shown.target) {
    columns.push_back({"samples to target", Align::kRight});
    columns.push_back({"time to target", Align::kRight});
  }
  return columns;
}

// Returns the columns of the second table: time and memory, measured and simulated.
std::vector<Column> use_columns() {
  std::vector<Column> columns{{""}, {"system"}};
  std::vector<Column> times = time_columns();
  times.insert(times.begin() + 1, {"simulated busy", Align::kRight});
  columns.insert(columns.end(), times.begin(), times.end());
  for (const char* title : {"memory", "simulated memory", "bytes/sample"})
    columns.push_back({title, Align::kRight});
  return columns;
}

// Returns the speed of a run over that of dp-bsp, or nullopt if either is not known.
std::optional<double> over_data_parallelism(const TrainingRun& run,
                                            const std::vector<TrainingRun>& runs) {
  for (const TrainingRun& other : runs)
    if (&systems::find_system(other.plan.system) == &systems::data_parallel_system() &&
        other.measured.samples_per_second > 0 && run.measured.samples_per_second > 0)
      return run.measured.samples_per_second / other.measured.samples_per_second;
  return std::nullopt;
}

// Returns the memory of the worker that has most.
std::string memory_entry(const std::vector<Bytes>& of_workers) {
  Bytes most;
  for (const Bytes each : of_workers) most = std::max(most, each);
  return to_text(most);
}

std::string mark_of(const TrainingRun& run, const std::string& automatic) {
  return run.plan.system == automatic ? "▶" : " ";
}

std::vector<std::string> speed_entries(const TrainingRun& run, const std::vector<TrainingRun>& runs,
                                       const std::string& automatic, const Shown& shown) {
  const std::optional<double> factor = over_data_parallelism(run, runs);
  const Measured& of = run.measured;
  std::vector<std::string> entries{mark_of(run, automatic),
                                   run.plan.system,
                                   short_config(plan::config_text(run.plan)),
                                   rate_entry(of.samples_per_second),
                                   rate_entry(simulated_rate(run)),
                                   factor ? fmt::format("{:.2f}", *factor) : "–",
                                   samples_per_update_text(of),
                                   staleness_text(furthest_behind(of)),
                                   four_decimals(of.loss)};
  if (shown.held_out) entries.push_back(of.held_out_loss ? four_decimals(*of.held_out_loss) : "–");
  if (shown.target) {
    const bool reached = of.goal && of.goal->wanted && of.goal->reached;
    entries.push_back(reached ? grouped(of.goal->samples) : "–");
    entries.push_back(reached ? to_text(from_seconds(of.goal->training.count())) : "–");
  }
  return entries;
}

std::vector<std::string> use_entries(const TrainingRun& run, const std::string& automatic) {
  const auto& simulated = run.simulated;
  std::vector<std::string> entries{mark_of(run, automatic), run.plan.system};
  std::vector<std::string> times = time_entries(run.measured.summary);
  times.insert(times.begin() + 1, simulated ? time_entries(simulated->summary).front() : "–");
  for (std::string& entry : times) entries.push_back(std::move(entry));
  entries.push_back(memory_entry(run.measured.memory));
  entries.push_back(simulated ? memory_entry(simulated->memory) : "–");
  entries.push_back(bytes_text(run.measured.bytes_per_sample));
  return entries;
}

// Says how the choice of `auto` did: ": the fastest", or how much slower it was than which system.
std::string verdict_on(const std::string& automatic, const std::vector<TrainingRun>& runs) {
  const auto slower = [](const TrainingRun& a, const TrainingRun& b) {
    return a.measured.samples_per_second < b.measured.samples_per_second;
  };
  const auto fastest = std::max_element(runs.begin(), runs.end(), slower);
  const auto chosen = std::find_if(runs.begin(), runs.end(), [&](const TrainingRun& run) {
    return run.plan.system == automatic;
  });
  if (chosen == runs.end() || chosen->measured.samples_per_second <= 0) return "";
  const double share = chosen->measured.samples_per_second / fastest->measured.samples_per_second;
  if (fastest == chosen) return ": the fastest";
  return fmt::format(": {} slower than the fastest, {}", percent(1 - share), fastest->plan.system);
}

// Returns the title of the comparison. All runs train the same samples, unless they end at a
// target.
std::string comparison_title(const std::vector<TrainingRun>& runs) {
  const TrainingRun& run =
      *std::max_element(runs.begin(), runs.end(), [](const TrainingRun& a, const TrainingRun& b) {
        return a.measured.samples < b.measured.samples;
      });
  const Measured& measured = run.measured;
  const bool differ = std::any_of(runs.begin(), runs.end(), [&](const TrainingRun& other) {
    return other.measured.samples != measured.samples;
  });
  return fmt::format("{}: {}{} samples with each system, `batch` {}{}", run.model,
                     differ ? "up to " : "", grouped(measured.samples), run.batch,
                     times_all(measured) ? "" : "; times are of " + timed_text(measured));
}

ordered_json or_null(const std::optional<double>& number) {
  return number ? ordered_json(*number) : ordered_json();
}

ordered_json goal_json(const systems::GoalResult& goal) {
  ordered_json json{{"figure", goal.figure},   {"wanted", or_null(goal.wanted)},
                    {"reached", goal.reached}, {"best", or_null(goal.best)},
                    {"samples", goal.samples}, {"training_seconds", goal.training.count()}};
  if (goal.stalled_epochs) json["stalled_epochs"] = *goal.stalled_epochs;
  return json;
}

// Returns the simulated values of a run, under the names that training_json() gives to the measured
// ones.
ordered_json simulated_json(const TrainingRun& run) {
  if (!run.simulated) return {};
  const timeline::Summary& summary = run.simulated->summary;
  return {{"samples_per_second", or_null(simulated_rate(run))},
          {"utilisation", summary.utilisation()},
          {"busy", to_seconds(summary.busy)},
          {"idle", idle_json(summary.idle)},
          {"recompute", to_seconds(summary.recompute)},
          {"peak_memory_bytes", bytes_json(run.simulated->memory)}};
}

}  // namespace

std::string training_title(const TrainingRun& run) {
  return run.model + ": " + run.plan.system + " " + short_config(plan::config_text(run.plan)) +
         ", measured";
}

std::string training_line(const TrainingRun& run) {
  return fmt::format("{}; {}; {}", rate_text(run.measured.samples_per_second),
                     summary_line(run.measured.summary), timed_text(run.measured));
}

std::string training_table(const TrainingRun& run) {
  const Measured& measured = run.measured;
  std::string text = fmt::format(
      "{}: {} {}, {}{} trained, {}\n\n", run.model, run.plan.system,
      short_config(plan::config_text(run.plan)),
      grouped_count(measured.minibatches, "minibatch", "minibatches"),
      run.plan.microbatches > 1
          ? " in " + grouped_count(run.plan.microbatches, "microbatch", "microbatches") + " each"
          : "",
      grouped_count(measured.samples, "sample", "samples"));
  text += fmt::format("speed        {}\n", speed_text(run));
  text += small_network_line(run);
  text += speed_gap_line(run);
  text += earlier_lines(run);
  text += fmt::format("loss         {}\n", result_text(measured));
  text += goal_lines(run);
  text += fmt::format("utilisation  {}\n", utilisation_text(measured.summary));
  if (measured.resumed_at > 0)
    text += fmt::format("resumed      from a checkpoint after {}\n",
                        grouped_count(measured.resumed_at, "minibatch", "minibatches"));
  text += checkpoints_line(run);
  text += fmt::format("timed        {}\n", timed_text(measured));
  text += fmt::format("on links     {} per sample\n", bytes_text(measured.bytes_per_sample));
  text += fmt::format("an update    of {} samples\n", samples_per_update_text(measured));
  text +=
      fmt::format("took         {} in all\n\n", to_text(from_seconds(measured.seconds.count())));
  return text + worker_table(run).text();
}

ordered_json training_json(const TrainingRun& run) {
  const Measured& measured = run.measured;
  ordered_json json = result_head("pipedream-result", run.model, run.batch);
  json["model_options"] = run.options;
  json["seed"] = run.seed;
  json["optimiser"] = run.optimiser;
  json["learning_rate"] = run.learning_rate;
  json["system"] = run.plan.system;
  json["config"] = plan::config_text(run.plan);
  json["samples_per_second"] =
      measured.samples_per_second > 0 ? ordered_json(measured.samples_per_second) : ordered_json();
  json["predicted_samples_per_second"] = or_null(run.predicted);
  json["simulated_samples_per_second"] = or_null(simulated_rate(run));
  json["compute_over_simulated"] = or_null(compute_ratio(run));
  json["samples_per_update"] = measured.samples_per_update;
  json["minibatches"] = measured.minibatches;
  json["samples"] = measured.samples;
  if (measured.resumed_at > 0) json["resumed_at_minibatch"] = measured.resumed_at;
  if (!run.earlier.empty()) json["earlier_plans"] = earlier_json(run);
  json["checkpoints"] = measured.checkpoints;
  json["drain_seconds"] = or_null(seconds_of(measured.drain));
  json["predicted_drain_seconds"] = or_null(run.predicted_drain);
  json["simulated_drain_seconds"] = or_null(simulated_drain(run));
  json["first_timed_minibatch"] = measured.first_timed;
  json["timed_minibatches"] = measured.timed_end - measured.first_timed;
  if (run.plan.microbatches > 1) json["microbatches"] = run.plan.microbatches;
  if (run.plan.accumulate > 1) json["accumulate"] = run.plan.accumulate;
  json["loss"] = measured.loss;
  json["held_out_loss"] = or_null(measured.held_out_loss);
  json["accuracy"] = or_null(measured.accuracy);
  if (measured.top5) json["top5_accuracy"] = *measured.top5;
  if (measured.perplexity) json["perplexity"] = *measured.perplexity;
  if (measured.goal) json["target"] = goal_json(*measured.goal);
  json["bytes_per_sample"] = measured.bytes_per_sample;
  json["utilisation"] = measured.summary.utilisation();
  json["busy"] = to_seconds(measured.summary.busy);
  json["idle"] = idle_json(measured.summary.idle);
  json["recompute"] = to_seconds(measured.summary.recompute);
  json["workers"] = workers_json(measured.summary);
  json["peak_memory_bytes"] = bytes_json(measured.memory);
  json["predicted_memory_bytes"] = bytes_json(predicted_memory(run));
  auto stale = ordered_json::array();
  for (const systems::Staleness& of : measured.staleness)
    stale.push_back({{"most", of.most}, {"mean", of.mean}});
  json["staleness"] = stale;
  json["seconds"] = measured.seconds.count();
  return json;
}

std::string training_comparison_table(const std::vector<TrainingRun>& runs,
                                      const std::vector<NotRun>& not_run,
                                      const std::string& automatic) {
  const auto any = [&](auto has) { return std::any_of(runs.begin(), runs.end(), has); };
  const Shown shown{.held_out = any([](const TrainingRun& run) {
                      return run.measured.held_out_loss.has_value();
                    }),
                    .target = any([](const TrainingRun& run) {
                      return run.measured.goal && run.measured.goal->wanted;
                    })};
  Table speeds(speed_columns(shown));
  Table uses(use_columns());
  for (const TrainingRun& run : runs) {
    speeds.add_row(speed_entries(run, runs, automatic, shown));
    uses.add_row(use_entries(run, automatic));
  }
  std::string text = (runs.empty() ? "" : comparison_title(runs) + "\n\n") + speeds.text() +
                     "\nWhere the workers' time and memory go\n" + uses.text();
  for (const NotRun& each : not_run) text += fmt::format("\n{}: {}", each.system, each.why);
  if (!not_run.empty()) text += "\n";
  std::string legend = kChoiceLegend;
  legend.insert(legend.size() - 1, verdict_on(automatic, runs));
  return text + "\n" + legend;
}

ordered_json training_comparison_json(const std::vector<TrainingRun>& runs,
                                      const std::vector<NotRun>& not_run,
                                      const std::string& automatic) {
  ordered_json json = runs.empty()
                          ? result_head("pipedream-comparison", "", std::nullopt)
                          : result_head("pipedream-comparison", runs[0].model, runs[0].batch);
  json["auto"] = automatic.empty() ? ordered_json() : ordered_json(automatic);
  auto list = ordered_json::array();
  for (const TrainingRun& run : runs)
    list.push_back({{"system", run.plan.system},
                    {"config", plan::config_text(run.plan)},
                    {"speedup_over_dp", or_null(over_data_parallelism(run, runs))},
                    {"simulated", simulated_json(run)},
                    {"measured", training_json(run)}});
  for (const NotRun& each : not_run)
    list.push_back({{"system", each.system},
                    {"config", nullptr},
                    {"refused", each.why},
                    {"speedup_over_dp", nullptr},
                    {"simulated", nullptr},
                    {"measured", nullptr}});
  json["runs"] = list;
  return json;
}

}  // namespace pipedream::report
