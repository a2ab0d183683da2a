#include "train/resume.h"

#include <map>
#include <memory>
#include <random>
#include <set>

#include <nlohmann/json.hpp>

#include "core/document.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "data/data_name.h"

namespace pipedream::train {
namespace {

using checkpoint::Found;
using checkpoint::Manifest;
using checkpoint::Skipped;

std::string lines_of(const std::vector<Skipped>& skipped) {
  std::string lines;
  for (const Skipped& each : skipped) lines += "\n  " + each.damage.why;
  return lines;
}

// What differs between the options, or the facts, of two networks: "NAME is … now and was …", with
// "none" for one that a network does not have. `quote` is put around names.
std::vector<std::string> differences(const std::map<std::string, std::string>& before,
                                     const std::map<std::string, std::string>& now,
                                     const std::string& quote) {
  const auto value_in = [](const auto& options, const std::string& name) {
    const auto found = options.find(name);
    return found == options.end() ? "none" : found->second;
  };
  std::set<std::string> names;
  for (const auto& [name, value] : before) names.insert(name);
  for (const auto& [name, value] : now) names.insert(name);
  std::vector<std::string> changed;
  for (const std::string& name : names)
    if (value_in(before, name) != value_in(now, name))
      changed.push_back(quote + name + quote + " is " + value_in(now, name) + " now and was " +
                        value_in(before, name));
  return changed;
}

bool orders_samples_differently(const Manifest& before, const Manifest& now) {
  return before.seed != now.seed || before.data_samples != now.data_samples;
}

}  // namespace

std::optional<SoundCheckpoint> newest_checkpoint(const std::filesystem::path& checkpoints) {
  checkpoint::Newest newest = checkpoint::newest_sound(checkpoints);
  if (newest.found)
    return SoundCheckpoint{newest.found->path, std::get<Manifest>(std::move(newest.found->content)),
                           std::move(newest.skipped)};
  if (newest.skipped.empty()) return std::nullopt;
  throw BadFile("no checkpoint in " + checkpoints.string() +
                " is sound:" + lines_of(newest.skipped));
}

SoundCheckpoint one_checkpoint(const std::filesystem::path& path) {
  for (Found& found : checkpoint::find_checkpoints(path.parent_path())) {
    if (found.path.filename() != path.filename()) continue;
    if (const auto damage = checkpoint::damage_of(found)) throw BadFile(damage->why);
    return {path, std::get<Manifest>(std::move(found.content)), {}};
  }
  throw CannotMeet("`resume` " + path.string() + ": there is no such checkpoint");
}

ResumeName parse_resume_name(const std::filesystem::path& named) {
  const auto plain = named.has_filename() ? named : named.parent_path();  // without a last '/'
  const std::filesystem::path folder = plain.parent_path();
  if (checkpoint::step_of(plain.filename().string()) && folder.filename() == kCheckpoints)
    return {folder.parent_path(), plain};
  return {plain};
}

std::optional<SoundCheckpoint> find_checkpoint(const std::filesystem::path& named) {
  const ResumeName name = parse_resume_name(named);
  return name.checkpoint ? std::optional(one_checkpoint(*name.checkpoint))
                         : newest_checkpoint(name.run / kCheckpoints);
}

std::vector<std::string> changed_settings(const Manifest& before, const Manifest& now) {
  std::vector<std::string> changed;
  const auto compare = [&](const char* option, const std::string& was, const std::string& is) {
    if (was != is)
      changed.push_back("`" + std::string(option) + "` is " + printable(is, 200) + " now and was " +
                        printable(was, 200));
  };
  compare("model", before.model, now.model);
  if (before.model == now.model) {
    for (std::string& line : differences(before.model_options, now.model_options, "`"))
      changed.push_back(std::move(line));
    // Checkpoints of earlier versions have no facts.
    if (!before.model_facts.empty())
      for (const std::string& line : differences(before.model_facts, now.model_facts, ""))
        changed.push_back("the model's " + line);
  }
  const bool same_data = before.data == now.data || data::was_moved(before.data, now.data);
  if (!same_data) compare("data", before.data, now.data);
  if (same_data && before.data_samples != now.data_samples)
    changed.push_back("`data` has " + std::to_string(now.data_samples) + " samples now and had " +
                      std::to_string(before.data_samples));
  compare("seed", std::to_string(before.seed), std::to_string(now.seed));
  compare("batch", std::to_string(before.batch), std::to_string(now.batch));
  compare("precision", before.precision, now.precision);
  compare("optimiser", before.optimiser, now.optimiser);
  return changed;
}

std::string to_text(const SoundCheckpoint& checkpoint) {
  const nlohmann::ordered_json json{{"path", any_bytes(checkpoint.path.string())},
                                    {"manifest", checkpoint::to_json(checkpoint.manifest)}};
  return json.dump();
}

SoundCheckpoint checkpoint_in(const std::string& text) {
  const Node root = parse_json(text, "the first process's checkpoint");
  return {root.at("path").any_bytes(),
          checkpoint::parse_manifest(root.at("manifest").any_text(), "its manifest"),
          {}};
}

std::string new_run_id() {
  std::random_device random;
  std::string bits;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t word = random();
    bits.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  return to_hex(bits);
}

void want_same_settings(const Manifest& before, const Manifest& now, bool force, bool in_place) {
  const std::vector<std::string> changed = changed_settings(before, now);
  if (changed.empty()) return;
  std::string lines;
  for (const std::string& each : changed) lines += "\n  " + each;
  if (!force)
    throw CannotMeet(
        "`resume`: with other settings this would be another training:" + lines +
        "\nleave them as they were, or `force` it" +
        (in_place && counts_steps_differently(before, now) ? " in another folder (`out`)" : ""));
  if (in_place && counts_steps_differently(before, now))
    throw CannotMeet("`force`: with other settings the steps are counted differently:" + lines +
                     "\ngo on in another folder");
}

bool counts_steps_differently(const Manifest& before, const Manifest& now) {
  return orders_samples_differently(before, now) || before.batch != now.batch;
}

Beginning beginning_of(const Manifest& before, const Manifest& now) {
  Beginning beginning{.stream = {before.position.epoch, before.position.samples_of_epoch},
                      .samples = before.position.samples,
                      .loss = before.loss,
                      .minibatch = before.position.minibatch};
  if (!orders_samples_differently(before, now)) return beginning;
  beginning.stream.used = 0;
  beginning.samples = beginning.stream.epoch * now.data_samples;
  return beginning;
}

checkpoint::Position resumed_position(const Manifest& before, const Manifest& now) {
  checkpoint::Position position = before.position;
  if (!counts_steps_differently(before, now)) return position;
  position.samples = beginning_of(before, now).samples;
  position.step = data::Batches(now.data_samples, now.batch, /*seed=*/0, /*shuffle=*/false)
                      .minibatches_until(position.samples);
  return position;
}

PlainWeights weights_of(const SoundCheckpoint& checkpoint) {
  PlainWeights weights;
  const runtime::FindTensor find = weights_to_use(checkpoint);
  for (const checkpoint::FileEntry& part : checkpoint.manifest.files) {
    const model::WeightsReader reader(checkpoint.path / part.name);
    weights.metadata = reader.metadata();
    for (const std::string& name : reader.names())
      if (runtime::is_of_the_network(name)) weights.tensors.emplace(name, *find(name));
  }
  return weights;
}

bool is_seen(const SoundCheckpoint& checkpoint) {
  try {
    return read_file(checkpoint.path / checkpoint::kManifestFile) ==
           checkpoint::to_json(checkpoint.manifest);
  } catch (const IoError&) {
    return false;
  }
}

bool takes_averages(const SoundCheckpoint& checkpoint) {
  bool has_state = false;
  for (const checkpoint::FileEntry& part : checkpoint.manifest.files)
    for (const std::string& name : model::WeightsReader(checkpoint.path / part.name).names()) {
      if (name.starts_with(runtime::name_of_average(""))) return true;
      has_state |= !runtime::is_of_the_network(name);
    }
  return !has_state;
}

model::WeightsMetadata metadata_of(const SoundCheckpoint& checkpoint) {
  if (checkpoint.manifest.files.empty()) return {};
  return model::WeightsReader(checkpoint.path / checkpoint.manifest.files.front().name).metadata();
}

runtime::FindTensor weights_to_use(const SoundCheckpoint& checkpoint) {
  return [all = tensors_of(checkpoint)](const std::string& name) {
    const auto average = all(runtime::name_of_average(name));
    return average ? average : all(name);
  };
}

runtime::FindTensor tensors_of(const SoundCheckpoint& checkpoint) {
  auto readers = std::make_shared<std::vector<std::unique_ptr<model::WeightsReader>>>();
  for (const checkpoint::FileEntry& file : checkpoint.manifest.files)
    readers->push_back(std::make_unique<model::WeightsReader>(checkpoint.path / file.name));
  return [readers](const std::string& name) -> std::optional<at::Tensor> {
    for (const auto& reader : *readers)
      if (auto tensor = reader->find(name)) return tensor;
    return std::nullopt;
  };
}

}  // namespace pipedream::train
