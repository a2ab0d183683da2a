// pipedream models: the networks that come with the program, and the layers of one network.
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/network_flags.h"
#include "core/text.h"
#include "data/task.h"
#include "graph/cut.h"
#include "model/zoo.h"
#include "report/table.h"

namespace pipedream::cli {
namespace {

using Json = nlohmann::ordered_json;

// The number of layers that compute, that is, without input layers.
std::int64_t layer_count(const model::Network& network) {
  std::int64_t count = 0;
  for (const graph::Layer& layer : network.graph.layers()) count += layer.is_input ? 0 : 1;
  return count;
}

Json to_json(const model::NetworkEntry& entry, const model::Network& network) {
  Json options = Json::array();
  for (const model::OptionSpec& option : entry.options) {
    Json one{{"name", option.name}, {"help", option.help}};
    if (!option.choices.empty())
      one["default"] = model::default_text(option);
    else if (option.whole)
      one["default"] = static_cast<std::int64_t>(option.value);
    else
      one["default"] = option.value;
    options.push_back(std::move(one));
  }
  return {{"name", entry.name},
          {"about", entry.about},
          {"parameters", model::parameter_count(network)},
          {"layers", layer_count(network)},
          {"batch", entry.batch},
          {"options", std::move(options)}};
}

// "--batch 64 --image-size 224 …", broken so that the table fits a terminal.
std::vector<std::string> option_lines(const model::NetworkEntry& entry) {
  constexpr std::size_t kWidest = 80;
  std::vector<std::string> lines{"--batch " + std::to_string(entry.batch)};
  for (const model::OptionSpec& option : entry.options) {
    const std::string text = "--" + option.name + " " + model::default_text(option);
    if (lines.back().size() + 1 + text.size() > kWidest)
      lines.push_back(text);
    else
      lines.back() += " " + text;
  }
  return lines;
}

void print_table() {
  report::Table table({{"model"},
                       {"parameters", report::Align::kRight},
                       {"layers", report::Align::kRight},
                       {"what it is; its options and their defaults"}});
  for (const model::NetworkEntry& entry : model::zoo()) {
    const model::Network network = entry.make(model::Options(entry.options, {}), entry.batch);
    table.add_row({entry.name, report::grouped(model::parameter_count(network)),
                   std::to_string(layer_count(network)), entry.about});
    for (const std::string& line : option_lines(entry)) table.add_row({"", "", "", "  " + line});
  }
  std::cout << table.text();
}

void print_json() {
  Json models = Json::array();
  for (const model::NetworkEntry& entry : model::zoo())
    models.push_back(to_json(entry, entry.make(model::Options(entry.options, {}), entry.batch)));
  std::cout << Json{{"models", std::move(models)}}.dump(2) << "\n";
}

// The layers of one network, in their order, and what would go over a link if the network were cut
// after each of them.
void print_layers(const model::NetworkEntry& entry, bool as_json) {
  const model::Network network = entry.make(model::Options(entry.options, {}), entry.batch);
  report::Table table({{"layer"},
                       {"kind"},
                       {"parameters", report::Align::kRight},
                       {"a cut behind it sends", report::Align::kRight}});
  Json layers = Json::array();
  const std::vector<Bytes> crossing = graph::bytes_crossing_each_prefix(network.graph);
  const auto& order = network.graph.order();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const graph::Layer& layer = network.graph.layer(order[i]);
    if (layer.is_input) continue;
    const std::int64_t parameters = model::parameter_count(network.spec(order[i]));
    table.add_row({layer.name, report::shortened(layer.kind, 40), report::grouped(parameters),
                   i + 1 < order.size() ? to_text(crossing[i + 1]) : ""});
    layers.push_back({{"name", layer.name},
                      {"kind", layer.kind},
                      {"parameters", parameters},
                      {"cut_bytes", crossing[i + 1].count}});
  }
  if (as_json) {
    Json json = to_json(entry, network);
    json["layer_list"] = std::move(layers);
    std::cout << json.dump(2) << "\n";
    return;
  }
  std::cout << entry.name << ": " << entry.about << ", "
            << report::grouped(model::parameter_count(network)) << " parameters, minibatch of "
            << network.batch << ", reads " << data::inputs_text(network) << "\n\n"
            << table.text();
  for (const std::string& note : entry.notes) std::cerr << note << "\n";
}

}  // namespace

void add_models(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "models", "List the networks that can be trained, or the layers of one of them");
  const auto as_json = std::make_shared<bool>(false);
  const auto model = std::make_shared<std::string>();
  command->add_option("model", *model, "The network whose layers to list: a name or a .pt2 file");
  command->add_flag("--json", *as_json, "Print one JSON object");
  command->callback([as_json, model] {
    if (!model->empty()) return print_layers(network_named(*model), *as_json);
    *as_json ? print_json() : print_table();
  });
}

}  // namespace pipedream::cli
