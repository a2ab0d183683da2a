#include "profile/profile_file.h"

#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/document.h"
#include "core/error.h"
#include "core/file.h"
#include "profile/device_names.h"
#include "profile/graph_text.h"

namespace pipedream::profile {
namespace {

constexpr std::string_view kFormat = "pipedream-profile";
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kLargestSide = std::int64_t{1} << 40;  // longest side of a tensor

using Json = nlohmann::ordered_json;

graph::Builder::Output read_output(const Node& node) {
  node.expect_keys({"name", "shape", "bytes", "kept", "weight"});
  graph::Builder::Output output;
  output.name = node.at("name").text();
  if (const auto shape = node.find("shape"))
    for (const Node& side : shape->elements())
      output.shape.push_back(side.integer(0, kLargestSide));
  output.bytes = node.at("bytes").byte_count();
  if (const auto weight = node.find("weight")) output.is_weight = weight->boolean();
  return output;
}

// Returns the key 'kept' of each output, or an empty list if no output has the key. Fails if only
// some outputs have it.
std::vector<bool> read_keeps_output(const Node& outputs) {
  std::vector<bool> keeps;
  std::size_t silent = 0;
  for (const Node& output : outputs.elements()) {
    const auto kept = output.find("kept");
    if (kept)
      keeps.push_back(kept->boolean());
    else
      ++silent;
  }
  if (!keeps.empty() && silent > 0)
    outputs.fail("wanted the key 'kept' in all of the outputs or in none");
  return keeps;
}

// Reads the optional key `key`, the part of `whole` that does not depend on the number of samples.
// Fails if it exceeds `whole`, which is the value of the key `of`.
template <class Amount>
Amount read_fixed(const Node& layer, std::string_view key, const std::string& of, Amount whole) {
  const auto found = layer.find(key);
  if (!found) return {};
  Amount fixed;
  if constexpr (std::is_same_v<Amount, Bytes>)
    fixed = found->byte_count();
  else
    fixed = found->seconds();
  if (fixed > whole)
    found->fail("wanted at most the " + to_text(whole) + " of '" + of + "', found " +
                to_text(fixed));
  return fixed;
}

// Reads `key` into `all`, and the key "fixed_" + `key` into `fixed`. Returns nullopt if `key` is
// absent.
std::optional<Working> read_working(const Node& layer, const std::string& key) {
  const auto found = layer.find(key);
  const Bytes all = found ? found->byte_count() : Bytes{};
  const Working working{all, read_fixed(layer, "fixed_" + key, key, all)};
  return found ? std::optional(working) : std::nullopt;
}

void write_working(const Working& working, const std::string& key, Json& layer) {
  layer[key] = working.all.count;
  if (working.fixed > Bytes{0}) layer["fixed_" + key] = working.fixed.count;
}

void read_layer(const Node& node, graph::Builder& builder, std::vector<LayerCost>& costs) {
  node.expect_keys({"name", "kind", "input", "forward", "backward", "fixed_forward_seconds",
                    "fixed_backward_seconds", "update_seconds", "averaging_seconds", "weight_bytes",
                    "stash_bytes", "working_bytes", "fixed_working_bytes", "forward_working_bytes",
                    "fixed_forward_working_bytes", "keeps_input", "outputs"});
  std::vector<graph::Builder::Output> outputs;
  for (const Node& output : node.at("outputs").elements()) outputs.push_back(read_output(output));
  const std::string name = node.at("name").text();
  const auto marked = node.find("input");
  LayerCost cost;
  try {
    if (marked && marked->boolean()) {
      builder.add_input(name, std::move(outputs));
    } else {
      builder.add_layer(name, node.at("kind").text(), std::move(outputs));
      cost.forward = node.at("forward").seconds();
      cost.backward = node.at("backward").seconds();
      cost.fixed_forward = read_fixed(node, "fixed_forward_seconds", "forward", cost.forward);
      cost.fixed_backward = read_fixed(node, "fixed_backward_seconds", "backward", cost.backward);
      if (const auto update = node.find("update_seconds")) cost.update = update->seconds();
      if (const auto averaging = node.find("averaging_seconds"))
        cost.averaging = averaging->seconds();
      cost.weights = node.at("weight_bytes").byte_count();
      cost.stash = node.at("stash_bytes").byte_count();
      cost.working = read_working(node, "working_bytes");
      cost.forward_working = read_working(node, "forward_working_bytes").value_or(Working{});
      cost.keeps_output = read_keeps_output(node.at("outputs"));
      if (const auto keeps = node.find("keeps_input"))
        for (const Node& kept : keeps->elements()) cost.keeps_input.push_back(kept.boolean());
    }
  } catch (const BadValue& bad) {
    node.fail(bad.what());
  }
  costs.push_back(std::move(cost));
}

void read_edge(const Node& node, graph::Builder& builder) {
  node.expect_keys({"from", "output", "to"});
  const auto output = node.find("output");
  try {
    builder.add_edge(node.at("from").text(), output ? output->text() : "", node.at("to").text());
  } catch (const BadValue& bad) {
    node.fail(bad.what());
  }
}

// Checks that every `keeps_input` has one entry per input of its layer, which is known only once
// all edges are read.
void check_kept_inputs(const Node& layers, const Profile& profile) {
  for (std::size_t i = 0; i < profile.costs.size(); ++i) {
    const auto kept = profile.costs[i].keeps_input.size();
    const auto inputs = profile.graph.layers()[i].inputs.size();
    if (kept != 0 && kept != inputs)
      layers.elements()[i]
          .at("keeps_input")
          .fail("wanted one entry for each of the " + std::to_string(inputs) + " inputs, found " +
                std::to_string(kept));
  }
}

graph::Graph build(graph::Builder builder, const Node& root) {
  try {
    return std::move(builder).build();
  } catch (const BadValue& bad) {
    root.fail(bad.what());
  }
}

Json layer_json(const Profile& profile, LayerId id) {
  const graph::Layer& layer = profile.graph.layer(id);
  const LayerCost& cost = profile.cost(id);
  Json json;
  json["name"] = layer.name;
  if (layer.is_input) {
    json["input"] = true;
  } else {
    json["kind"] = layer.kind;
    json["forward"] = to_seconds(cost.forward);
    json["backward"] = to_seconds(cost.backward);
    if (cost.fixed_forward > Nanos(0))
      json["fixed_forward_seconds"] = to_seconds(cost.fixed_forward);
    if (cost.fixed_backward > Nanos(0))
      json["fixed_backward_seconds"] = to_seconds(cost.fixed_backward);
    if (cost.update > Nanos(0)) json["update_seconds"] = to_seconds(cost.update);
    if (cost.averaging > Nanos(0)) json["averaging_seconds"] = to_seconds(cost.averaging);
    json["weight_bytes"] = cost.weights.count;
    json["stash_bytes"] = cost.stash.count;
    if (cost.working) write_working(*cost.working, "working_bytes", json);
    if (cost.forward_working.all > Bytes{0})
      write_working(cost.forward_working, "forward_working_bytes", json);
    if (!cost.keeps_input.empty()) json["keeps_input"] = cost.keeps_input;
  }
  json["outputs"] = Json::array();
  for (std::size_t o = 0; o < layer.outputs.size(); ++o) {
    const graph::Value& value = profile.graph.value(layer.outputs[o]);
    Json output{{"name", value.name}};
    if (!value.shape.empty()) output["shape"] = value.shape;
    output["bytes"] = value.bytes.count;
    if (!cost.keeps_output.empty()) output["kept"] = static_cast<bool>(cost.keeps_output.at(o));
    if (value.is_weight) output["weight"] = true;
    json["outputs"].push_back(std::move(output));
  }
  return json;
}

Json edges_json(const graph::Graph& graph) {
  auto edges = Json::array();
  for (const graph::Layer& consumer : graph.layers()) {
    for (const ValueId input : consumer.inputs) {
      const graph::Value& value = graph.value(input);
      const graph::Layer& producer = graph.layer(value.producer);
      Json edge{{"from", producer.name}};
      if (producer.outputs.size() > 1) edge["output"] = value.name;
      edge["to"] = consumer.name;
      edges.push_back(std::move(edge));
    }
  }
  return edges;
}

// Writes one layer or edge per line, so that files are readable and small changes are small in
// version control.
std::string rows(const std::vector<Json>& all) {
  std::string text = "[";
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "\n    " : ",\n    ") + all[i].dump();
  return text + "\n  ]";
}

}  // namespace

Profile parse_profile_json(std::string_view content, const std::string& file) {
  const Node root = parse_json(content, file);
  root.expect_format(kFormat, kVersion);
  root.expect_keys({"format", "version", "model", "batch", "device", "precision", "threads",
                    "workers", "passes", "passes_spread", "input_seconds", "whole_seconds",
                    "layers", "edges"});
  Profile profile;
  profile.model = root.at("model").text();
  if (const auto batch = root.find("batch")) profile.batch = batch->integer(1, kLargestBatch);
  if (const auto device = root.find("device")) profile.device = read_device(*device);
  if (const auto precision = root.find("precision")) profile.precision = read_precision(*precision);
  if (const auto threads = root.find("threads"))
    profile.threads = static_cast<int>(threads->integer(1, 1 << 20));
  if (const auto workers = root.find("workers"))
    profile.workers = static_cast<int>(workers->integer(1, 1 << 20));
  if (const auto passes = root.find("passes"))
    profile.passes = static_cast<int>(passes->integer(1, 1 << 20));
  if (const auto spread = root.find("passes_spread")) profile.spread = spread->number(0, 1e9);
  if (const auto input = root.find("input_seconds")) profile.input = input->seconds();
  if (const auto whole = root.find("whole_seconds")) profile.whole = whole->seconds();
  graph::Builder builder;
  const Node layers = root.at("layers");
  for (const Node& layer : layers.elements()) read_layer(layer, builder, profile.costs);
  if (profile.costs.empty()) layers.fail("wanted at least one layer, found none");
  for (const Node& edge : root.at("edges").elements()) read_edge(edge, builder);
  profile.graph = build(std::move(builder), root);
  try {
    check_totals(profile);
  } catch (const BadValue& bad) {
    root.fail(bad.what());
  }
  check_kept_inputs(layers, profile);
  return profile;
}

std::string to_json(const Profile& profile) {
  Json head{{"format", kFormat}, {"version", kVersion}, {"model", profile.model}};
  if (profile.batch) head["batch"] = *profile.batch;
  if (!profile.device.empty()) head["device"] = profile.device;
  if (!profile.precision.empty()) head["precision"] = profile.precision;
  if (profile.threads) head["threads"] = *profile.threads;
  if (profile.workers) head["workers"] = *profile.workers;
  if (profile.passes) head["passes"] = *profile.passes;
  if (profile.spread) head["passes_spread"] = *profile.spread;
  head["input_seconds"] = to_seconds(profile.input);
  if (profile.whole) head["whole_seconds"] = to_seconds(*profile.whole);
  std::string text = head.dump(2);
  text.resize(text.rfind("\n}"));  // the lists of layers and edges follow, one entry per line

  std::vector<Json> layers;
  for (std::size_t i = 0; i < profile.costs.size(); ++i)
    layers.push_back(layer_json(profile, id_at<LayerId>(i)));
  return text + ",\n  \"layers\": " + rows(layers) +
         ",\n  \"edges\": " + rows(edges_json(profile.graph)) + "\n}\n";
}

Profile parse_profile(std::string_view content, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (content.starts_with(kByteOrderMark)) content.remove_prefix(kByteOrderMark.size());
  const auto first = content.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) throw BadFile(file + ": wanted a profile, found an empty file");
  if (content[first] == '{') return parse_profile_json(content, file);
  return parse_graph_text(content, file);
}

Profile read_profile(const std::filesystem::path& path) {
  return parse_profile(read_file(path), path.string());
}

Profile read_profile(const std::filesystem::path& path, std::optional<std::int64_t> batch) {
  Profile profile = read_profile(path);
  if (batch && profile.batch && *batch != *profile.batch)
    throw CannotMeet("`batch` " + std::to_string(*batch) + ": " + path.string() +
                     " was measured with " + std::to_string(*profile.batch) +
                     "; profile the model anew");
  if (batch) profile.batch = batch;
  return profile;
}

}  // namespace pipedream::profile
