#include "checkpoint/manifest.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "core/checksum.h"
#include "core/document.h"
#include "core/text.h"

namespace pipedream::checkpoint {
namespace {

using nlohmann::ordered_json;

constexpr const char* kFormat = "pipedream-checkpoint";
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMost = std::int64_t{1} << 53;
// The text between everything else and the digits of the checksum.
constexpr std::string_view kBeforeChecksum = ",\n  \"checksum\": \"";
constexpr std::string_view kAfterChecksum = "\"\n}\n";

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char letter) {
           return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                  (letter >= '0' && letter <= '9') || letter == '.' || letter == '-' ||
                  letter == '_';
         });
}

bool is_run(std::string_view text) {
  return text.size() == 32 && is_checksum(text.substr(0, 16)) && is_checksum(text.substr(16));
}

// Throws BadFile unless the text ends with the checksum of what stands before it.
void check_whole(std::string_view content, const std::string& file) {
  constexpr std::size_t kDigits = 16;
  const std::size_t tail = kBeforeChecksum.size() + kDigits + kAfterChecksum.size();
  const bool has_tail = content.size() > tail && content.ends_with(kAfterChecksum) &&
                        content.substr(content.size() - tail).starts_with(kBeforeChecksum);
  if (!has_tail) throw BadFile(file + ": its end is missing: wanted a checksum");
  const std::string_view body = content.substr(0, content.size() - tail);
  const std::string_view found =
      content.substr(content.size() - kAfterChecksum.size() - kDigits, kDigits);
  if (const std::string wanted = checksum_of(body); wanted != found)
    throw BadFile(file + ": it was changed after it was written: its checksum is " + wanted +
                  ", and it says " + printable(found));
}

FileEntry read_entry(const Node& node) {
  node.expect_keys({"name", "bytes", "xxh3"});
  FileEntry entry{node.at("name").text(), 0, node.at("xxh3").text()};
  entry.bytes = static_cast<std::uint64_t>(node.at("bytes").integer(0, kMost));
  if (!is_plain_name(entry.name)) node.at("name").fail("wanted the plain name of a file");
  if (!is_checksum(entry.checksum)) node.at("xxh3").fail("wanted 16 hexadecimal digits");
  return entry;
}

std::vector<FileEntry> read_files(const Node& node) {
  std::vector<FileEntry> files;
  std::set<std::string> names;
  for (const Node& each : node.elements()) {
    files.push_back(read_entry(each));
    if (!names.insert(files.back().name).second) each.fail("this file is listed twice");
  }
  return files;
}

Position read_position(const Node& node) {
  node.expect_keys({"step", "samples", "epoch", "samples_of_epoch", "minibatch"});
  return {.step = node.at("step").integer(0, kMost),
          .samples = node.at("samples").integer(0, kMost),
          .epoch = node.at("epoch").integer(0, kMost),
          .samples_of_epoch = node.at("samples_of_epoch").integer(0, kMost),
          .minibatch = node.at("minibatch").integer(0, kMost)};
}

}  // namespace

std::uint64_t bytes_of(const Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const FileEntry& file : manifest.files) bytes += file.bytes;
  return bytes;
}

std::string to_json(const Manifest& manifest) {
  ordered_json files = ordered_json::array();
  for (const FileEntry& entry : manifest.files)
    files.push_back({{"name", entry.name}, {"bytes", entry.bytes}, {"xxh3", entry.checksum}});
  const Position& at = manifest.position;
  ordered_json json{{"format", kFormat},
                    {"version", kVersion},
                    {"run", manifest.run},
                    {"position",
                     {{"step", at.step},
                      {"samples", at.samples},
                      {"epoch", at.epoch},
                      {"samples_of_epoch", at.samples_of_epoch},
                      {"minibatch", at.minibatch}}},
                    {"loss", manifest.loss}};
  // JSON has no other numbers.
  if (manifest.held_out_loss && std::isfinite(*manifest.held_out_loss))
    json["held_out_loss"] = *manifest.held_out_loss;
  json["seed"] = manifest.seed;
  json["model"] = manifest.model;
  json["model_options"] = manifest.model_options;
  if (!manifest.model_facts.empty()) json["model_facts"] = manifest.model_facts;
  json["data"] = any_bytes(manifest.data);
  json["data_samples"] = manifest.data_samples;
  json["batch"] = manifest.batch;
  json["precision"] = manifest.precision;
  json["optimiser"] = manifest.optimiser;
  json["learning_rate"] = manifest.learning_rate;
  json["plan"] = manifest.plan;
  json["files"] = std::move(files);
  std::string text = json.dump(2);
  text.resize(text.size() - std::string_view("\n}").size());
  return text + std::string(kBeforeChecksum) + checksum_of(text) + std::string(kAfterChecksum);
}

Manifest parse_manifest(std::string_view content, const std::string& file) {
  check_whole(content, file);
  const Node root = parse_json(content, file);
  try {
    root.expect_format(kFormat, kVersion);
  } catch (const BadFile& other) {  // the checksum is right, so nothing is damaged
    throw OtherVersion(other.what());
  }
  root.expect_keys({"format", "version", "run", "position", "loss", "held_out_loss", "seed",
                    "model", "model_options", "model_facts", "data", "data_samples", "batch",
                    "precision", "optimiser", "learning_rate", "plan", "files", "checksum"});
  Manifest manifest;
  manifest.run = root.at("run").text();
  if (!is_run(manifest.run)) root.at("run").fail("wanted 32 hexadecimal digits");
  manifest.position = read_position(root.at("position"));
  manifest.loss = root.at("loss").number(-1e300, 1e300);
  if (const auto loss = root.find("held_out_loss"))
    manifest.held_out_loss = loss->number(-1e300, 1e300);
  manifest.seed = static_cast<std::uint64_t>(root.at("seed").integer(0, kMost));
  manifest.model = root.at("model").text();
  for (const auto& [name, value] : root.at("model_options").members())
    manifest.model_options[name] = value.any_text();
  if (const auto facts = root.find("model_facts"))
    for (const auto& [name, value] : facts->members())
      manifest.model_facts[name] = value.any_text();
  manifest.data = root.at("data").any_bytes();
  manifest.data_samples = root.at("data_samples").integer(1, kMost);
  manifest.batch = root.at("batch").integer(1, kMost);
  manifest.precision = root.at("precision").text();
  manifest.optimiser = root.at("optimiser").text();
  manifest.learning_rate = root.at("learning_rate").number(0, 1e300);
  manifest.plan = root.at("plan").any_text();
  manifest.files = read_files(root.at("files"));
  return manifest;
}

}  // namespace pipedream::checkpoint
