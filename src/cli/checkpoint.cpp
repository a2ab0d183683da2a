// pipedream checkpoint: lists the checkpoints of a run, and turns one into plain weights.
#include <iostream>

#include <nlohmann/json.hpp>

#include "checkpoint/folder.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "core/document.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "model/weights_file.h"
#include "report/table.h"
#include "train/resume.h"

namespace pipedream::cli {
namespace {

using checkpoint::Found;
using checkpoint::Manifest;
using Json = nlohmann::ordered_json;

struct CheckpointFlags {
  std::string run;
  std::optional<std::int64_t> step;
  std::string weights_file;
  bool as_json = false;
};

// A checkpoint, and what is wrong with it.
struct Listed {
  Found found;
  std::optional<checkpoint::Damage> damage;

  [[nodiscard]] const Manifest* manifest() const { return std::get_if<Manifest>(&found.content); }
};

std::vector<Listed> list_of(const std::string& run) {
  std::error_code error;
  if (!std::filesystem::is_directory(run, error))
    throw CannotMeet(run + ": there is no such folder");
  std::vector<Listed> all;
  for (Found& found :
       checkpoint::find_checkpoints(std::filesystem::path(run) / train::kCheckpoints)) {
    Listed& listed = all.emplace_back(Listed{std::move(found), std::nullopt});
    listed.damage = checkpoint::damage_of(listed.found);
  }
  if (all.empty())
    throw CannotMeet(run + " has no checkpoints: name the folder that 'train --out' wrote to");
  return all;
}

Json json_of(const Listed& listed) {
  Json json{{"step", listed.found.step}, {"path", any_bytes(listed.found.path.string())}};
  if (const Manifest* manifest = listed.manifest()) {
    json["run"] = manifest->run;
    json["epoch"] = manifest->position.epoch;
    json["samples"] = manifest->position.samples;
    json["loss"] = manifest->loss;
    json["held_out_loss"] =
        manifest->held_out_loss ? Json(*manifest->held_out_loss) : Json(nullptr);
    json["bytes"] = checkpoint::bytes_of(*manifest);
  }
  json["sound"] = !listed.damage.has_value();
  if (listed.damage) json["damage"] = listed.damage->why;
  return json;
}

// The newest sound checkpoint, which --resume takes. Null if none is sound.
const Listed* newest_of(const std::vector<Listed>& all) {
  for (auto listed = all.rbegin(); listed != all.rend(); ++listed)
    if (!listed->damage) return &*listed;
  return nullptr;
}

// The epochs that were trained, as a number with three digits.
std::string epochs_of(const Manifest& manifest) {
  const checkpoint::Position& at = manifest.position;
  return report::three_digits(static_cast<double>(at.epoch) +
                              static_cast<double>(at.samples_of_epoch) /
                                  static_cast<double>(manifest.data_samples));
}

Bytes size_of(const Manifest& manifest) {
  return {static_cast<std::int64_t>(checkpoint::bytes_of(manifest))};
}

void print_table(const std::vector<Listed>& all) {
  report::Table table({{""},
                       {"step", report::Align::kRight},
                       {"epochs", report::Align::kRight},
                       {"loss", report::Align::kRight},
                       {"held-out loss", report::Align::kRight},
                       {"size", report::Align::kRight},
                       {"state"}});
  for (const Listed& listed : all) {
    const Manifest* manifest = listed.manifest();
    table.add_row({&listed == newest_of(all) ? "▶" : " ", std::to_string(listed.found.step),
                   manifest != nullptr ? epochs_of(*manifest) : "–",
                   manifest != nullptr ? report::four_decimals(manifest->loss) : "–",
                   manifest != nullptr && manifest->held_out_loss
                       ? report::four_decimals(*manifest->held_out_loss)
                       : "–",
                   manifest != nullptr ? to_text(size_of(*manifest)) : "–",
                   !listed.damage               ? "sound"
                   : listed.damage->is_for_good ? "damaged"
                                                : "cannot be read"});
  }
  std::cout << table.text();
  for (const Listed& listed : all)
    if (listed.damage) std::cout << "\n" << listed.damage->why;
  if (newest_of(all) != nullptr)
    std::cout << "\n▶ is what 'pipedream train --resume' goes on from\n";
  else
    std::cout << "\nnone is sound: there is nothing to go on from\n";
}

const Listed& chosen(const std::vector<Listed>& all, const CheckpointFlags& flags) {
  if (!flags.step) {
    if (const Listed* newest = newest_of(all)) return *newest;
    throw BadFile("no checkpoint in " + flags.run + " is sound: " + all.back().damage->why);
  }
  for (const Listed& listed : all) {
    if (listed.found.step != *flags.step) continue;
    if (listed.damage) throw BadFile(listed.damage->why);
    return listed;
  }
  throw CannotMeet("--step " + std::to_string(*flags.step) + ": " + flags.run + " has the steps " +
                   joined(all, [](const Listed& each) { return std::to_string(each.found.step); }));
}

void export_weights(const Listed& from, const std::string& file) {
  train::PlainWeights weights = train::weights_of({from.found.path, *from.manifest(), {}});
  model::make_state_dict(weights.tensors, weights.metadata);
  model::write_weights(file, weights.tensors, weights.metadata);
  std::cerr << "the weights of step " << from.found.step << " are written to " << file << "\n";
}

// A user may name a run by one of its checkpoints, which is the path that `train` prints.
void take_name_apart(CheckpointFlags& flags) {
  const train::ResumeName name = train::parse_resume_name(flags.run);
  flags.run = name.run.string();
  if (name.checkpoint && !flags.step)
    flags.step = checkpoint::step_of(name.checkpoint->filename().string());
}

void show_checkpoints(CheckpointFlags& flags) {
  take_name_apart(flags);
  if (!flags.weights_file.empty()) prepare_to_write(flags.weights_file);
  const std::vector<Listed> all = list_of(flags.run);
  if (!flags.weights_file.empty()) return export_weights(chosen(all, flags), flags.weights_file);
  if (!flags.as_json) return print_table(all);
  Json list = Json::array();
  for (const Listed& listed : all) list.push_back(json_of(listed));
  const Json json{{"format", "pipedream-checkpoints"}, {"version", 1}, {"checkpoints", list}};
  std::cout << json.dump(2) << "\n";
}

}  // namespace

void add_checkpoint(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "checkpoint", "List the checkpoints of a run, or turn one into plain weights");
  const auto flags = std::make_shared<CheckpointFlags>();
  command->add_option("run", flags->run, "Folder of a training (its --out)")->required();
  CLI::Option* file = command
                          ->add_option("--export", flags->weights_file,
                                       "Write the weights of a checkpoint here (safetensors)")
                          ->check(check_output_name);
  command->add_option("--step", flags->step, "Which one [the newest that is sound]")
      ->check(range<std::int64_t>(0, kMostSeed, kWholeNumber))
      ->needs(file);
  command->add_flag("--json", flags->as_json, "Print one JSON object instead of the table")
      ->excludes(file);
  command->callback([flags] { show_checkpoints(*flags); });
}

}  // namespace pipedream::cli
