#include "profile/graph_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"

namespace pipedream::profile {
namespace {

constexpr std::string_view kSeparator = " -- ";
constexpr double kLargestBytes = 0x1p53;
constexpr double kLongestMilliseconds = 1e9;  // Node::seconds() has the same limit

struct Place {
  const std::string& file;
  std::size_t line;
  [[noreturn]] void fail(const std::string& what) const {
    throw BadFile(fmt::format("{}:{}: {}", file, line, what));
  }
};

struct NodeLine {
  std::string id;
  std::string description;
  double forward_ms = 0;
  double backward_ms = 0;
  double output_bytes = 0;
  double weight_bytes = 0;
  std::size_t line = 0;
};

struct EdgeLine {
  std::string from;
  std::string to;
  std::size_t line = 0;
};

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

std::string shown(std::string_view text) { return "\"" + printable(text) + "\""; }

// Whether `text` is UTF-8 without control characters. Our JSON can hold such strings only, so this
// ensures that every profile that is read can also be written.
bool is_text(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; };
  if (std::any_of(text.begin(), text.end(), is_control)) return false;
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

double read_number(std::string_view text, double most, const Place& place, std::string_view key) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number) ||
      number < 0 || number > most)
    place.fail(fmt::format("{}: wanted a number from 0 to {:g}, found {}", key, most, shown(text)));
  return number;
}

// Reads one size, "6291456.0", or the sum of a list of sizes, "[6291456.0; 131072.0]".
double read_sizes(std::string_view text, const Place& place, std::string_view key) {
  if (text.empty() || text.front() != '[') return read_number(text, kLargestBytes, place, key);
  if (text.back() != ']') place.fail(fmt::format("{}: the list has no end: {}", key, shown(text)));
  double sum = 0;
  for (const std::string_view part : split(text.substr(1, text.size() - 2), "; "))
    sum += read_number(part, kLargestBytes, place, key);
  if (sum > kLargestBytes) place.fail(fmt::format("{}: the sum {:g} is too large", key, sum));
  return sum;
}

void read_costs(std::string_view text, NodeLine& node, const Place& place) {
  struct Field {
    std::string_view key;
    double NodeLine::*into;
    bool found = false;
  };
  Field fields[] = {{"forward_compute_time", &NodeLine::forward_ms},
                    {"backward_compute_time", &NodeLine::backward_ms},
                    {"activation_size", &NodeLine::output_bytes},
                    {"parameter_size", &NodeLine::weight_bytes}};
  for (const std::string_view part : split(text, ", ")) {
    const std::string_view key = part.substr(0, part.find('='));
    const auto field = std::find_if(std::begin(fields), std::end(fields),
                                    [&](const Field& f) { return f.key == key; });
    if (field == std::end(fields) || key.size() == part.size())
      place.fail(
          "wanted forward_compute_time=…, backward_compute_time=…, activation_size=…, "
          "parameter_size=…, found " +
          shown(part));
    if (field->found) place.fail(std::string(key) + " is given twice");
    field->found = true;
    const std::string_view value = part.substr(key.size() + 1);
    node.*field->into = field->key.ends_with("time")
                            ? read_number(value, kLongestMilliseconds, place, key)
                            : read_sizes(value, place, key);
  }
  for (const Field& field : fields)
    if (!field.found) place.fail(std::string(field.key) + " is missing");
}

NodeLine read_node(std::string_view line, const Place& place) {
  auto parts = split(line, kSeparator);
  if (parts.back().starts_with("stage_id=")) parts.pop_back();  // written by PipeDream's planner
  if (parts.size() < 3)
    place.fail(
        "wanted our JSON, or PipeDream's graph text with nodes \"id -- description -- costs\" "
        "and edges \"<TAB>id -- id\", found " +
        shown(line));
  NodeLine node;
  node.line = place.line;
  node.id = parts.front();
  if (node.id.empty()) place.fail("the node's id is empty");
  // The description may itself hold the separator. It is everything between the first part and the
  // last.
  const auto* begin = parts[1].data();
  const auto* end = parts[parts.size() - 2].data() + parts[parts.size() - 2].size();
  node.description.assign(begin, end);
  read_costs(parts.back(), node, place);
  return node;
}

EdgeLine read_edge(std::string_view line, const Place& place) {
  const auto parts = split(line.substr(1), kSeparator);
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty())
    place.fail("wanted an edge \"<TAB>producer -- consumer\", found " + shown(line));
  return {std::string(parts[0]), std::string(parts[1]), place.line};
}

// Returns the key by which ids are sorted: ("node", 12) for "node12", so that node9 precedes
// node10.
std::pair<std::string_view, std::uint64_t> natural_key(std::string_view id) {
  const auto digits = id.find_last_not_of("0123456789") + 1;  // 0 if all are digits: npos + 1 == 0
  std::uint64_t number = 0;
  std::from_chars(id.data() + digits, id.data() + id.size(), number);
  return {id.substr(0, digits), number};
}

Nanos milliseconds(double ms) { return Nanos(std::llround(ms * 1e6)); }
Bytes bytes(double count) { return {std::llround(count)}; }

void add_node(const NodeLine& node, graph::Builder& builder, Profile& profile) {
  const bool is_input = node.description.starts_with("Input");
  std::vector<graph::Builder::Output> outputs{{"out", {}, bytes(node.output_bytes)}};
  LayerCost cost;
  if (is_input) {
    builder.add_input(node.id, std::move(outputs));
    profile.input += milliseconds(node.forward_ms);
    if (profile.input > kLongestInAll)
      throw BadValue("all inputs together take more than " + to_text(kLongestInAll));
  } else {
    builder.add_layer(node.id, node.description, std::move(outputs));
    cost.forward = milliseconds(node.forward_ms);
    cost.backward = milliseconds(node.backward_ms);
    cost.weights = bytes(node.weight_bytes);
  }
  profile.costs.push_back(cost);
}

struct Lines {
  std::vector<NodeLine> nodes;  // sorted by natural_key()
  std::vector<EdgeLine> edges;
};

Lines read_lines(std::string_view content, const std::string& file) {
  Lines lines;
  Place place{file, 0};
  for (std::string_view line : split(content, "\n")) {
    ++place.line;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    if (!is_text(line.substr(line.front() == '\t' ? 1 : 0)))
      place.fail("wanted UTF-8 without control characters, found " + shown(line));
    if (line.front() == '\t')
      lines.edges.push_back(read_edge(line, place));
    else
      lines.nodes.push_back(read_node(line, place));
  }
  if (lines.nodes.empty()) throw BadFile(file + ": wanted at least one layer, found none");
  std::stable_sort(
      lines.nodes.begin(), lines.nodes.end(),
      [](const NodeLine& a, const NodeLine& b) { return natural_key(a.id) < natural_key(b.id); });
  return lines;
}

// Throws BadFile if a layer that is neither an input layer nor the only layer has no edges. Edges
// are at the end of the file, so a file that was cut off lacks some of them.
void refuse_loose_ends(const graph::Graph& graph, const std::string& file) {
  if (graph.layers().size() == 1) return;
  for (const graph::Layer& layer : graph.layers()) {
    const bool used = std::any_of(layer.outputs.begin(), layer.outputs.end(), [&](ValueId output) {
      return !graph.value(output).consumers.empty();
    });
    if (!layer.is_input && layer.inputs.empty() && !used)
      throw BadFile(fmt::format("{}: no edge leads to or from node {}: is the file cut off?", file,
                                shown(layer.name)));
  }
}

// A layer such as "ReLU(inplace)" writes over its input, so the input takes no memory besides the
// output. Marks the input as not kept by its producer, if no other layer uses it.
void note_layers_in_place(Profile& profile) {
  for (const graph::Layer& layer : profile.graph.layers()) {
    if (layer.kind.find("inplace") == std::string::npos) continue;
    for (const ValueId input : layer.inputs) {
      const graph::Value& value = profile.graph.value(input);
      if (value.consumers.size() == 1 && !profile.graph.layer(value.producer).is_input)
        profile.costs[value.producer.index()].keeps_output = {false};
    }
  }
}

}  // namespace

Profile parse_graph_text(std::string_view content, const std::string& file) {
  const Lines lines = read_lines(content, file);
  Place place{file, 0};
  Profile profile;
  profile.model =
      std::filesystem::path(file).stem().stem().string();  // "vgg16.graph.txt" → "vgg16"
  if (!is_text(profile.model)) profile.model.clear();
  graph::Builder builder;
  try {
    for (const NodeLine& node : lines.nodes) {
      place.line = node.line;
      add_node(node, builder, profile);
    }
    for (const EdgeLine& edge : lines.edges) {
      place.line = edge.line;
      builder.add_edge(edge.from, "", edge.to);
    }
  } catch (const BadValue& bad) {
    place.fail(bad.what());
  }
  try {
    profile.graph = std::move(builder).build();
    check_totals(profile);
  } catch (const BadValue& bad) {
    throw BadFile(file + ": " + bad.what());
  }
  refuse_loose_ends(profile.graph, file);
  note_layers_in_place(profile);
  return profile;
}

}  // namespace pipedream::profile
