// pipedream report: one page about one or several runs.
#include <algorithm>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/page_flags.h"
#include "cli/page_run.h"
#include "cluster/cluster_file.h"
#include "core/error.h"
#include "core/file.h"
#include "plan/plan_file.h"
#include "profile/profile_file.h"
#include "report/trace.h"
#include "train/run_folder.h"
#include "train/this_machine.h"

namespace pipedream::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct ReportFlags {
  std::vector<std::string> runs;
  std::string page = "report.html";
  bool no_simulation = false;
};

// The content of a file of the run; empty if it is not there.
std::string text_of(const fs::path& run, const char* name) {
  return is_there(run / name) ? read_file(run / name) : "";
}

ordered_json json_of(const fs::path& run, const char* name) {
  const std::string text = text_of(run, name);
  if (text.empty()) return {};
  ordered_json json = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object())
    throw BadFile((run / name).string() + ": this is no JSON object");
  return json;
}

// What is known of a training that has no results yet, or never will.
ordered_json unfinished(const ordered_json& plan) {
  return {{"model", plan.value("model", "the network")},
          {"system", plan.value("system", "")},
          {"config", plan.value("config", "")}};
}

// The speed of the links that the run emulated (train --link), if it did.
std::optional<Bandwidth> emulated_link(const fs::path& folder) {
  const ordered_json settings = json_of(folder, train::kConfigurationFile);
  const std::string link = settings.value("flags", ordered_json::object()).value("link", "");
  if (link.empty()) return std::nullopt;
  try {
    return parse_bandwidth(link);
  } catch (const BadValue& bad) {
    throw BadFile((folder / train::kConfigurationFile).string() + ": flags.link: " + bad.what());
  }
}

// Adds what the run's network does on the run's cluster, as simulated.
void simulate_again(const fs::path& folder, page::Run& run) {
  if (!is_there(folder / train::kProfileFile)) return;
  const profile::Profile profile = profile::read_profile(folder / train::kProfileFile);
  const plan::PlanFile file = plan::read_plan(folder / train::kPlanFile, profile.graph);
  const cluster::Cluster cluster =
      is_there(folder / train::kClusterFile)
          ? cluster::read_cluster(folder / train::kClusterFile)
          : train::this_machine_for(profile, std::max(1, file.workers), emulated_link(folder));
  add_simulation(file.plan, profile, cluster, run);
}

page::Run read_run(const fs::path& folder, bool simulates) {
  if (!fs::is_directory(folder)) throw CannotMeet(folder.string() + ": there is no such folder");
  if (!is_there(folder / train::kPlanFile))
    throw CannotMeet(folder.string() +
                     " is no run: name a folder that 'train --out' has written to");
  page::Run run{.name = folder.filename().empty() ? folder.parent_path().filename().string()
                                                  : folder.filename().string(),
                .is_measured = true,
                .result = json_of(folder, train::kSummaryFile),
                .plan = json_of(folder, train::kPlanFile),
                .metrics = text_of(folder, train::kMetricsFile)};
  if (run.result.empty()) run.result = unfinished(run.plan);
  run.plan["transfers"] = ordered_json::array();
  if (const std::string trace = text_of(folder, train::kTraceFile); !trace.empty())
    run.timelines.push_back(
        {"measured", report::compute_events_of(trace, (folder / train::kTraceFile).string())});
  if (simulates) simulate_again(folder, run);
  return run;
}

std::string title_of(const std::vector<page::Run>& runs) {
  const auto model = runs.front().result.value("model", "");
  if (runs.size() > 1) return model + ": " + std::to_string(runs.size()) + " runs";
  return model + ": " + runs.front().result.value("system", "") + " " +
         runs.front().result.value("config", "");
}

// Files of a run that are JSON, and not what a training writes, are bad files.
page::Run run_of(const fs::path& folder, bool simulates) {
  try {
    page::Run run = read_run(folder, simulates);
    (void)title_of({run});
    (void)page::to_json(run);
    return run;
  } catch (const nlohmann::json::exception& error) {
    throw BadFile(folder.string() +
                  ": its files are not as a training writes them: " + error.what());
  }
}

void execute(const ReportFlags& flags) {
  check_page_file("-o", flags.page);
  std::vector<page::Run> runs;
  for (const std::string& folder : flags.runs) runs.push_back(run_of(folder, !flags.no_simulation));
  write_page(flags.page, title_of(runs), runs);
}

}  // namespace

void add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "report", "Write a page that shows one or several runs: plan, timeline, curves, memory");
  const auto flags = std::make_shared<ReportFlags>();
  command->add_option("RUN", flags->runs, "Folders that 'train --out' has written to")->required();
  command->add_option("-o,--out", flags->page, "The page (HTML) [report.html]")
      ->check(check_output_name);
  command->add_flag("--no-simulation", flags->no_simulation,
                    "Only what was measured: do not simulate this plan and other systems");
  command->callback([flags] { execute(*flags); });
}

}  // namespace pipedream::cli
