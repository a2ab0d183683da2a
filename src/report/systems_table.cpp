#include "report/systems_table.h"

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "report/table.h"

namespace pipedream::report {
namespace {

using nlohmann::ordered_json;
using systems::System;

std::string replicas_text(const cost::Traits& traits) {
  switch (traits.replicas) {
    case cost::Replicas::kNone:
      return "none";
    case cost::Replicas::kTakeTurns:
      return traits.one_stage ? "all workers" : "take turns";
    case cost::Replicas::kShareItems:
      return "share items";
  }
  return "";
}

std::string versions_text(const cost::Traits& traits) {
  switch (traits.versions) {
    case cost::WeightVersions::kOne:
      return traits.asynchronous ? "at the servers" : "one";
    case cost::WeightVersions::kStashed:
      return "one per item in flight";
    case cost::WeightVersions::kVerticalSync:
      return "as the first stage";
    case cost::WeightVersions::kUnstashed:
      return "the newest";
    case cost::WeightVersions::kTwo:
      return "two";
  }
  return "";
}

std::string yes_if(bool what) { return what ? "yes" : "no"; }

// The titles of the columns. entries_of() returns the entries of one system in the same order.
const std::vector<std::string> kTitles{"system",   "what it is",      "microbatches", "flushes",
                                       "replicas", "weight versions", "stale weights"};
std::vector<std::string> entries_of(const System& system) {
  const cost::Traits& traits = system.traits;
  return {system.name,
          system.about,
          yes_if(traits.cuts_minibatches),
          yes_if(traits.flushes && !traits.asynchronous),
          replicas_text(traits),
          versions_text(traits),
          yes_if(traits.is_stale())};
}

}  // namespace

std::string systems_table() {
  std::vector<Column> columns;
  for (const std::string& title : kTitles)
    if (title != "what it is") columns.push_back({title});
  Table table(std::move(columns));
  std::string about;
  for (const System& system : systems::all_systems()) {
    std::vector<std::string> entries = entries_of(system);
    about += system.name + ": " + system.about + "\n";
    entries.erase(entries.begin() + 1);
    table.add_row(std::move(entries));
  }
  return table.text() + "\n" + about;
}

std::string systems_markdown() {
  const auto line = [](const std::vector<std::string>& entries) {
    std::string text = "|";
    for (const std::string& entry : entries) text += " " + entry + " |";
    return text + "\n";
  };
  std::string text = line(kTitles);
  text += "|";
  for (std::size_t i = 0; i < kTitles.size(); ++i) text += "---|";
  text += "\n";
  for (const System& system : systems::all_systems()) text += line(entries_of(system));
  return text;
}

ordered_json systems_json() {
  auto list = ordered_json::array();
  for (const System& system : systems::all_systems()) {
    const cost::Traits& traits = system.traits;
    auto options = ordered_json::array();
    for (const systems::Option option : system.options) options.push_back(name_of(option));
    list.push_back({{"name", system.name},
                    {"about", system.about},
                    {"one_stage", traits.one_stage},
                    {"cuts_minibatches", traits.cuts_minibatches},
                    {"flushes", traits.flushes && !traits.asynchronous},
                    {"replicas", replicas_text(traits)},
                    {"asynchronous", traits.asynchronous},
                    {"recomputes", traits.recomputes},
                    {"several_stages_per_worker", traits.several_stages_per_worker},
                    {"weight_versions", versions_text(traits)},
                    {"stale", traits.is_stale()},
                    {"automatic", system.preference.has_value()},
                    {"options", options}});
  }
  return {{"format", "pipedream-systems"}, {"version", 1}, {"systems", list}};
}

}  // namespace pipedream::report
