#include "systems/options.h"

#include "core/check.h"

namespace pipedream::systems {
namespace {

struct Entry {
  Option option;
  const char* name;
  bool (*is_given)(const Wishes&);
  void (*take_back)(Wishes&);
};

const Entry kEntries[] = {
    {Option::kStraight, "straight", [](const Wishes& w) { return w.straight; },
     [](Wishes& w) { w.straight = false; }},
    {Option::kHierarchical, "hierarchical", [](const Wishes& w) { return w.hierarchical; },
     [](Wishes& w) { w.hierarchical = false; }},
    {Option::kNoRecompute, "no_recompute", [](const Wishes& w) { return !w.recompute; },
     [](Wishes& w) { w.recompute = true; }},
    {Option::kSplit, "split", [](const Wishes& w) { return !w.split.empty(); },
     [](Wishes& w) { w.split.clear(); }},
    {Option::kStages, "stages", [](const Wishes& w) { return w.stages.has_value(); },
     [](Wishes& w) { w.stages.reset(); }},
    {Option::kMicrobatches, "microbatches",
     [](const Wishes& w) { return w.microbatches.has_value(); },
     [](Wishes& w) { w.microbatches.reset(); }},
    {Option::kDepth, "depth", [](const Wishes& w) { return w.depth != cost::Depth::kBest; },
     [](Wishes& w) { w.depth = cost::Depth::kBest; }},
    {Option::kAccumulate, "accumulate", [](const Wishes& w) { return w.accumulate > 1; },
     [](Wishes& w) { w.accumulate = 1; }},
    {Option::kBalance, "balance", [](const Wishes& w) { return w.balance != plan::Balance::kTime; },
     [](Wishes& w) { w.balance = plan::Balance::kTime; }},
    {Option::kExchange, "exchange", [](const Wishes& w) { return w.exchange.has_value(); },
     [](Wishes& w) { w.exchange.reset(); }},
    {Option::kCostModel, "cost_model",
     [](const Wishes& w) { return w.cost_model != cost::CostModel::kDefault; },
     [](Wishes& w) { w.cost_model = cost::CostModel::kDefault; }},
    // Options of ScheduleOptions, which Wishes does not have.
    {Option::kVerticalSync, "vertical_sync", nullptr, nullptr},
    {Option::kNoStash, "no_stash", nullptr, nullptr},
};

const Entry& entry_of(Option option) {
  for (const Entry& entry : kEntries)
    if (entry.option == option) return entry;
  panic("an option without an entry", __FILE__, __LINE__);
}

}  // namespace

std::string name_of(Option option) { return entry_of(option).name; }

std::string quoted(Option option) { return "`" + name_of(option) + "`"; }

const std::vector<std::string>& prefer_names() {
  static const std::vector<std::string> names{"exact", "balanced", "speed"};
  return names;
}

std::vector<Option> given_options(const Wishes& wishes) {
  std::vector<Option> given;
  for (const Entry& entry : kEntries)
    if (entry.is_given != nullptr && entry.is_given(wishes)) given.push_back(entry.option);
  return given;
}

void take_back(Option option, Wishes& wishes) {
  const Entry& entry = entry_of(option);
  PD_CHECK(entry.take_back != nullptr);
  entry.take_back(wishes);
}

}  // namespace pipedream::systems
