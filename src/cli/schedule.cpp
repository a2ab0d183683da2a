// pipedream schedule: the program of every worker, as a grid or as text.
#include <algorithm>
#include <charconv>
#include <iostream>
#include <sstream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/pictures.h"
#include "cli/planning.h"
#include "cli/simulation_flags.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "report/plan_table.h"
#include "report/schedule_grid.h"
#include "report/table.h"
#include "schedule/lower.h"
#include "simulate/simulate.h"
#include "systems/own_schedule.h"
#include "systems/unit_case.h"
#include "timeline/account.h"

namespace pipedream::cli {
namespace {

constexpr int kMostStages = 1024;
constexpr std::int64_t kMostOpsShown =
    1'000'000;  // nobody reads more; most likely a mistyped number

struct ScheduleFlags : SimulationFlags, PictureFlags {
  systems::UnitWishes unit;
  std::optional<int> stages;
  std::string replicas;  // replicas of each stage: "2-1-1"
  std::optional<int> items;
  std::string depth, warm_up, file;
  bool as_text = false;
  bool complete = false;
  bool as_json = false;
};

std::vector<int> replicas_of(const ScheduleFlags& flags) {
  if (flags.replicas.empty())
    return std::vector<int>(static_cast<std::size_t>(flags.stages.value_or(4)), 1);
  std::vector<int> counts;
  const char* at = flags.replicas.data();
  const char* end = at + flags.replicas.size();
  int all = 0;
  while (true) {
    int count = 0;
    const auto [stop, error] = std::from_chars(at, end, count);
    if (error != std::errc{} || count < 1 || count > kMostStages || (stop != end && *stop != '-') ||
        (all += count) > kMostStages)
      throw BadUsage("--replicas: wanted the replicas of each stage, e.g. 2-1-1, at most " +
                     std::to_string(kMostStages) + " in all, found '" + flags.replicas + "'");
    counts.push_back(count);
    if (stop == end) return counts;
    at = stop + 1;
  }
}

systems::UnitWishes unit_wishes(const ScheduleFlags& flags) {
  systems::UnitWishes wishes = flags.unit;
  wishes.replicas = replicas_of(flags);
  const cost::Traits& traits = systems::find_system(wishes.system).traits;
  if (traits.one_stage && flags.replicas.empty())  // --stages is the number of workers
    wishes.replicas = {static_cast<int>(wishes.replicas.size())};
  wishes.microbatches = traits.cuts_minibatches ? flags.items.value_or(4) : 1;
  systems::Wishes depth;
  read_depth(flags.depth, depth);
  wishes.depth = depth.depth;
  wishes.most_depth = depth.most_depth;
  if (!flags.warm_up.empty() && flags.warm_up != "A" && flags.warm_up != "B")
    throw BadUsage("--warm-up: wanted A or B, found '" + flags.warm_up + "'");
  wishes.deeper = flags.warm_up == "B";
  return wishes;
}

// The number of minibatches to show. Without --minibatches: if the system does not cut minibatches,
// the number of items (--items or 8). If it cuts them and flushes, one update. If minibatches
// overlap, three updates.
std::int64_t minibatches_of(const ScheduleFlags& flags, const systems::UnitWishes& wishes) {
  if (flags.minibatches > 0) return flags.minibatches;
  const cost::Traits& traits = systems::find_system(wishes.system).traits;
  if (!traits.cuts_minibatches) return flags.items.value_or(8);
  return wishes.accumulate * (traits.flushes ? 1 : 3 * wishes.replicas.front());
}

// The programs of all workers. If `complete` is true, they include loads, sends and receives.
std::vector<schedule::Program> programs_of(const schedule::Schedule& schedule,
                                           const systems::UnitCase& unit, bool complete) {
  return complete ? schedule::lower(schedule, unit.plan, unit.profile.graph)
                  : schedule::programs_of(schedule);
}

void print_programs(const std::vector<schedule::Program>& programs, bool with_stages) {
  for (const schedule::Program& program : programs)
    std::cout << "worker " << program.worker.value << ": "
              << schedule::to_text(program, with_stages) << "\n";
}

// Every program as text, and how busy the workers are (docs/formats.md#schedule).
nlohmann::ordered_json schedule_json(const std::vector<schedule::Program>& programs,
                                     const plan::Plan& plan, const timeline::Summary& summary,
                                     bool with_stages) {
  auto workers = nlohmann::ordered_json::array();
  for (const schedule::Program& program : programs)
    workers.push_back(
        {{"worker", program.worker.value}, {"program", schedule::to_text(program, with_stages)}});
  return {{"format", "pipedream-schedule"},
          {"version", 1},
          {"system", plan.system},
          {"config", plan::config_text(plan)},
          {"microbatches", plan.microbatches},
          {"utilisation", summary.utilisation()},
          {"units", static_cast<double>(summary.length.count()) /
                        static_cast<double>(systems::kUnit.count())},
          {"workers", workers}};
}

// The number of workers that the lines of a schedule name. 0 if no line can be read.
int workers_in(const std::string& text) {
  constexpr std::string_view kWord = "worker ";
  int most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    int worker = 0;
    const char* end = line.data() + line.size();
    if (line.starts_with(kWord) &&
        std::from_chars(line.data() + kWord.size(), end, worker).ec == std::errc{})
      most = std::max(most, worker + 1);
  }
  return most;
}

// Reads the schedule in `file`. Throws BadFile if it is not valid. If the file has another number
// of workers, the message names the flag that sets it.
systems::OwnSchedule read_for_stages(const std::string& file, const systems::UnitCase& unit) {
  try {
    return systems::read_own_schedule(file, unit.plan, unit.profile.graph);
  } catch (const BadFile& bad) {
    const int here = unit.cluster.workers();
    const int there = workers_in(read_file(file));
    if (there == 0 || there == here) throw;
    throw BadFile(std::string(bad.what()) + "\n  it is read for " + std::to_string(here) +
                  (here == 1 ? " worker" : " workers") + " and speaks of " + std::to_string(there) +
                  ": try --stages " + std::to_string(there) +
                  ", or --replicas where stages have several");
  }
}

void execute(const ScheduleFlags& flags) {
  check_picture_files(flags);
  const systems::UnitWishes wishes = unit_wishes(flags);
  systems::UnitCase unit = systems::unit_case(wishes);
  systems::ScheduleOptions options{.minibatches = minibatches_of(flags, wishes)};
  take_over(flags, options);
  systems::OwnSchedule own;
  if (flags.file.empty())
    own.schedule = systems::schedule_for(unit.plan, options);
  else
    own = read_for_stages(flags.file, unit);
  if (!flags.file.empty()) options.minibatches = own.extent.minibatches;
  const std::int64_t items = options.minibatches * unit.plan.microbatches;
  if (items * static_cast<std::int64_t>(unit.plan.stages.size()) > kMostOpsShown)
    throw CannotMeet("a schedule of more than " + report::grouped(kMostOpsShown) +
                     " forwards is too long to print: choose fewer minibatches, or use pipedream "
                     "simulate, which takes any "
                     "length");
  const bool with_stages = unit.plan.stages.size() > unit.cluster.devices.size();
  if ((flags.as_text || flags.complete) && !flags.as_json)
    return print_programs(programs_of(own.schedule, unit, flags.complete), with_stages);
  const timeline::Timeline timeline =
      simulate::timeline_of(own.schedule, unit.plan, unit.profile, unit.cluster);
  timeline::Account account({.flushes = own.schedule.rules.traits.flushes});
  for (const timeline::Event& event : timeline.events) account.add(event);
  const timeline::Summary summary = account.finish();
  const std::string what = flags.file.empty() ? wishes.system : flags.file;
  const std::string line = "busy " + report::percent(summary.utilisation()) + " of the time";
  if (flags.as_json)
    std::cout << schedule_json(programs_of(own.schedule, unit, flags.complete), unit.plan, summary,
                               with_stages)
                     .dump(2)
              << "\n";
  else
    std::cout << what << " " << report::short_config(plan::config_text(unit.plan))
              << ", a forward takes 1 unit, a backward " << wishes.backward << ", " << line
              << "\n\n"
              << report::schedule_grid(timeline, systems::kUnit, with_stages);
  write_pictures(flags, timeline,
                 {.title = what + " " + report::short_config(plan::config_text(unit.plan)),
                  .subtitle = line,
                  .unit = report::TimeUnit{systems::kUnit, "unit", "units"}});
}

// Adds the flags that describe a pipeline of equal stages.
void add_unit_flags(CLI::App& command, ScheduleFlags& flags) {
  systems::UnitWishes& unit = flags.unit;
  const std::string names = joined(systems::all_systems(), &systems::System::name);
  command.add_option("--system", unit.system, names + " [pipedream]");
  CLI::Option* stages =
      command.add_option("--stages", flags.stages, "Stages of one worker each [4]")
          ->check(range<int>(1, kMostStages, kWholeNumber));
  command.add_option("--replicas", flags.replicas, "Replicas of each stage, e.g. 2-1-1")
      ->excludes(stages);
  command
      .add_option("--microbatches", flags.items,
                  "That each minibatch is cut into; minibatches where it is not cut")
      ->check(range<int>(1, 1 << 20, kWholeNumber));
  command.add_option("--minibatches", flags.minibatches, "How many to show")
      ->check(range<std::int64_t>(1, kMostOpsShown, kWholeNumber));
  command.add_option("--accumulate", unit.accumulate, "Minibatches per update of a replica [1]")
      ->check(range<int>(1, plan::kMostAccumulate, kWholeNumber));
  command.add_option("--depth", flags.depth,
                     "Items in flight: auto, noam (the paper's) or a number [auto]");
  command
      .add_option("--warm-up", flags.warm_up,
                  systems::systems_with([](const systems::System& system) {
                    return system.traits.flushes && system.traits.has_depths();
                  }) + ": A, S−i forwards first, or B, 2(S−i)−1 [A]")
      ->excludes("--depth");
  command
      .add_option("--chunks", unit.chunks, systems::systems_with([](const systems::System& system) {
                                             return system.traits.several_stages_per_worker;
                                           }) + ": stages per worker [2]")
      ->check(range<int>(1, kMostStages, kWholeNumber));
  command.add_flag("--recompute", unit.recompute, "Run forwards again instead of keeping all");
  command.add_option("--backward", unit.backward, "Time of a backward, in forwards [2]")
      ->check(range<int>(1, 100, kWholeNumber));
}

}  // namespace

void add_schedule(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "schedule", "Print what every worker does when, for stages that take equally long");
  const auto flags = std::make_shared<ScheduleFlags>();
  add_unit_flags(*command, *flags);
  add_weight_flags(*command, flags);
  CLI::Option* own =
      command->add_option("--schedule", flags->file, "Your own schedule (text, docs/formats.md)");
  for (const char* name :
       {"--minibatches", "--microbatches", "--depth", "--warm-up", "--vertical-sync", "--no-stash"})
    own->excludes(command->get_option(name));
  command->add_flag("--text", flags->as_text, "Print the programs as text, with weight versions");
  command->add_flag("--complete", flags->complete, "The same with loads, sends and receives");
  command->add_flag("--json", flags->as_json,
                    "Print one JSON object: the programs, and how busy the workers are");
  add_picture_flags(*command, flags);
  for (const char* text : {"--text", "--complete"})
    for (const char* picture : {"--svg", "--trace"})
      command->get_option(text)->excludes(command->get_option(picture));
  command->callback([flags] { execute(*flags); });
}

}  // namespace pipedream::cli
