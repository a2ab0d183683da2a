// Runs flows over FairLinks from start to end. Only *_test.cpp files include this.
#pragma once

#include <map>
#include <vector>

#include "simulate/fair_links.h"

namespace pipedream::simulate {

struct FlowCase {
  Nanos start;
  std::vector<Use> uses;
  double volume = 0;
};

// Returns when each flow ends. Requires flows sorted by start.
[[nodiscard]] inline std::vector<Nanos> ends_of(FairLinks& links,
                                                const std::vector<FlowCase>& flows) {
  std::vector<Nanos> ends(flows.size());
  std::map<FlowId, std::pair<std::size_t, FairLinks::Change>> running;  // index, latest Change
  const auto note = [&](std::size_t started) {
    for (const FairLinks::Change& change : links.changes()) {
      const auto found = running.find(change.flow);
      const std::size_t which = found == running.end() ? started : found->second.first;
      running[change.flow] = {which, change};
    }
  };
  for (std::size_t next = 0; next < flows.size() || !running.empty();) {
    auto first = running.begin();
    for (auto it = running.begin(); it != running.end(); ++it)
      if (it->second.second.end < first->second.second.end) first = it;
    const bool starts =
        running.empty() || (next < flows.size() && flows[next].start < first->second.second.end);
    if (starts) {
      (void)links.start(flows[next].start, flows[next].uses, flows[next].volume);
      note(next++);
      continue;
    }
    const auto [which, change] = first->second;
    ends[which] = change.end;
    running.erase(first);
    links.finish(change.end, change.flow);
    note(0);
  }
  return ends;
}

}  // namespace pipedream::simulate
