#include "cli/starting_point.h"

#include <nlohmann/json.hpp>

#include "core/document.h"
#include "core/error.h"
#include "core/file.h"
#include "train/together.h"

namespace pipedream::cli {
namespace {

using train::EarlierRun;
using train::RunFolder;

// What the JSON form of a result says of a target that ended a training (docs/formats.md). Nothing
// if the training ended in another way, or if this is no such result.
std::optional<systems::GoalResult> ended_at(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("target") || !json["target"].is_object())
    return std::nullopt;
  const nlohmann::json& target = json["target"];
  const auto is = [&](const char* key, auto test) {
    return target.contains(key) && (target[key].*test)();
  };
  systems::GoalResult result;
  if (is("figure", &nlohmann::json::is_string)) result.figure = target["figure"];
  if (is("reached", &nlohmann::json::is_boolean)) result.reached = target["reached"];
  if (is("best", &nlohmann::json::is_number)) result.best = target["best"];
  if (is("wanted", &nlohmann::json::is_number)) result.wanted = target["wanted"];
  if (is("stalled_epochs", &nlohmann::json::is_number_integer))
    result.stalled_epochs = target["stalled_epochs"];
  if (!result.reached && !result.stalled_epochs) return std::nullopt;
  return result;
}

std::string summary_of(const std::filesystem::path& run) {
  try {
    return read_file(run / train::kSummaryFile);
  } catch (const IoError&) {
    return "";
  }
}

bool are_the_same(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

void want_one_place(const TrainFlags& flags) {
  if (flags.overwrite)
    throw BadUsage("--overwrite and --resume: a run that is gone on with is not replaced; " +
                   std::string("leave one of them out, or name another folder with --out"));
  if (train::parse_resume_name(flags.resume).checkpoint)
    throw BadUsage("--resume " + flags.resume +
                   ": what follows this checkpoint in its run is kept; say with --out in which "
                   "other folder to go on");
}

// Fills in what goes on from `point.run`, which is locked if the training goes on in it.
void take_run(const TrainFlags& flags, StartingPoint& point, const std::filesystem::path& named) {
  if (point.in_place) point.folder.emplace(point.run, EarlierRun::kContinue);
  point.resumed = train::find_checkpoint(named);
  if (!point.resumed) return;
  point.file = (point.run / train::kConfigurationFile).string();
  point.configuration = read_file(point.file);
  point.has_ended = point.in_place && point.folder->has_results();
  if (point.has_ended) point.ended_at = ended_at(summary_of(point.run));
  if (point.in_place) want_one_place(flags);
}

StartingPoint resume_if_there(const TrainFlags& flags) {
  if (flags.out.empty())
    throw BadUsage("--resume auto goes on in the folder of --out: name it with --out");
  StartingPoint point;
  point.run = flags.out;
  point.in_place = true;
  if (is_there(point.run / train::kConfigurationFile)) take_run(flags, point, point.run);
  if (point.resumed) return point;
  if (point.folder && point.folder->has_results())
    throw CannotMeet("--resume auto: " + flags.out +
                     " has the results of a training and no checkpoint to go on from; name another "
                     "folder, or give --overwrite instead");
  // An earlier run that was ended before its first checkpoint has nothing to lose.
  point = StartingPoint{};
  point.folder.emplace(flags.out, EarlierRun::kReplace);
  return point;
}

StartingPoint resume_run(const TrainFlags& flags) {
  StartingPoint point;
  point.run = train::parse_resume_name(flags.resume).run;
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(flags.resume, error);
  if (error && error != std::errc::no_such_file_or_directory)
    throw IoError("--resume " + flags.resume + ": " + error.message());
  if (!is_folder) throw CannotMeet("--resume " + flags.resume + ": there is no such folder");
  point.in_place = flags.out.empty() || are_the_same(flags.out, point.run);
  take_run(flags, point, flags.resume);
  if (!point.resumed)
    throw CannotMeet("--resume " + flags.resume +
                     ": this run has no checkpoint to go on from; begin it anew with --out FOLDER");
  return point;
}

StartingPoint read_starting_point(const TrainFlags& flags) {
  StartingPoint point;
  if (flags.resume == kResumeIfThere)
    point = resume_if_there(flags);
  else if (!flags.resume.empty())
    point = resume_run(flags);
  if (point.resumed || flags.config.empty()) return point;
  point.file = flags.config;
  point.configuration = read_file(flags.config);
  return point;
}

// The parts that other processes need, as text.
std::string to_text(const StartingPoint& point) {
  nlohmann::ordered_json json{{"configuration", any_bytes(point.configuration)},
                              {"file", any_bytes(point.file)},
                              {"in_place", point.in_place},
                              {"has_ended", point.has_ended},
                              {"run", any_bytes(point.run.string())}};
  if (point.resumed) json["checkpoint"] = train::to_text(*point.resumed);
  if (point.has_ended) json["summary"] = any_bytes(summary_of(point.run));
  return json.dump();
}

StartingPoint from_text(const std::string& text) {
  const Node root = parse_json(text, "the first process's starting point");
  StartingPoint point;
  point.configuration = root.at("configuration").any_bytes();
  point.file = root.at("file").any_bytes();
  point.in_place = root.at("in_place").boolean();
  point.has_ended = root.at("has_ended").boolean();
  point.run = root.at("run").any_bytes();
  if (const auto summary = root.find("summary")) point.ended_at = ended_at(summary->any_bytes());
  if (const auto checkpoint = root.find("checkpoint"))
    point.resumed = train::checkpoint_in(checkpoint->any_text());
  return point;
}

}  // namespace

bool is_enough(const systems::GoalResult& result, const train::Goal& goal) {
  if (result.figure != to_text(goal.figure())) return false;
  if (goal.target && result.reached && result.best) return is_met(*goal.target, *result.best);
  const auto wanted = goal.target ? std::optional(goal.target->wanted) : std::nullopt;
  return wanted == result.wanted && goal.patience_epochs && result.stalled_epochs &&
         *result.stalled_epochs >= *goal.patience_epochs;
}

StartingPoint starting_point(TrainFlags& flags, transport::MpiWorld* world) {
  if (!flags.resume.empty() && flags.resume != kResumeIfThere && !flags.config.empty())
    throw BadUsage("--resume has the configuration of its run: leave --config out");
  if (!flags.resume.empty() && flags.resume != kResumeIfThere && !flags.initial_weights.empty())
    throw BadUsage("--resume has the weights of its checkpoint: leave --weights out");
  StartingPoint point;
  const std::string text = train::made_by_first(world, [&] {
    point = read_starting_point(flags);
    return to_text(point);
  });
  if (world != nullptr && world->rank() > 0) point = from_text(text);
  if (point.resumed && point.in_place) flags.out = point.run.string();
  return point;
}

}  // namespace pipedream::cli
