// Small networks with their plans, and text forms, for tests about schedules. Only *_test.cpp files
// include this.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"
#include "schedule/ops.h"

namespace pipedream::schedule {

struct Pipeline {
  graph::Graph graph;
  plan::Plan plan;
};

// One layer a stage, stage s on worker s; value s goes from stage s to stage s+1:
//
//   data ─▶ l0 ─0─▶ l1 ─1─▶ … ─▶ l(n−1) ◀─ labels
[[nodiscard]] inline Pipeline straight_pipeline(int stages, Bytes value = Bytes{1}) {
  graph::Builder builder;
  plan::Plan plan;
  for (int s = 0; s < stages; ++s) {
    const LayerId layer = builder.add_layer("l" + std::to_string(s), "", {{"out", {}, value}});
    plan.stages.push_back({{layer}, {WorkerId{s}}});
    if (s > 0) builder.add_edge(LayerId{s - 1}, 0, layer);
  }
  const LayerId data = builder.add_input("data", {{"out", {}, Bytes{1}}});
  const LayerId labels = builder.add_input("labels", {{"out", {}, Bytes{1}}});
  builder.add_edge(data, 0, LayerId{0});
  builder.add_edge(labels, 0, LayerId{stages - 1});
  return {std::move(builder).build(), plan};
}

// The text of each program.
[[nodiscard]] inline std::vector<std::string> texts_of(const std::vector<Program>& programs,
                                                       bool with_stage = false) {
  std::vector<std::string> texts;
  for (const Program& program : programs) texts.push_back(to_text(program, with_stage));
  return texts;
}

}  // namespace pipedream::schedule
