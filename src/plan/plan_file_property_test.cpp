#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/error.h"
#include "core/property_testing.h"
#include "plan/plan_file.h"
#include "plan/plan_file_testing.h"

namespace pipedream::plan {
namespace {

using test::any_of_range;
using test::any_text;

Bytes any_bytes() {
  return Bytes{any_of_range<std::int64_t>(0, (std::int64_t{1} << any_of_range(0, 54)) + 1)};
}

// Returns 0 or a number of any size up to 10^12. Most of them have no short decimal form.
double any_number() {
  if (any_of_range(0, 6) == 0) return 0;
  return std::pow(10.0, any_of_range(-300, 12)) * (any_of_range(0, 1 << 30) / 1073741824.0);
}

std::optional<double> any_number_or_none() {
  if (any_of_range(0, 3) == 0) return std::nullopt;
  return any_number();
}

// Returns a graph whose layers use layers that are all declared before them, or all after them. A
// few layers are inputs.
graph::Graph any_graph() {
  const int count = any_of_range(1, 10);
  const bool last_first = any_of_range(0, 2) == 0;
  graph::Builder builder;
  std::vector<bool> is_input;
  for (int i = 0; i < count; ++i) {
    is_input.push_back(i > 0 && any_of_range(0, 5) == 0);
    const std::string name = any_text() + "." + std::to_string(i);  // all differ
    if (is_input.back())
      builder.add_input(name, {{"out", {}, Bytes{1}}});
    else
      builder.add_layer(name, "", {{"out", {}, Bytes{1}}});
  }
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) {
      const LayerId from{last_first ? b : a};
      const LayerId to{last_first ? a : b};
      if (!is_input[to.index()] && any_of_range(0, 3) == 0) builder.add_edge(from, 0, to);
    }
  return std::move(builder).build();
}

// Returns a plan whose stages are random pieces of the graph's order.
PlanFile any_plan(const graph::Graph& graph) {
  PlanFile file;
  file.model = any_text();
  file.workers = any_of_range(1, any_of_range(0, 2) == 0 ? 6 : 1'000'001);
  if (any_of_range(0, 2) == 1) file.device = any_of_range(0, 2) == 1 ? "cuda" : "cpu";
  if (any_of_range(0, 2) == 1) file.precision = any_of_range(0, 2) == 1 ? "bf16" : "fp32";
  if (any_of_range(0, 2) == 1) file.batch = any_of_range(1, 1 << any_of_range(1, 31));
  file.plan.system = any_text();
  file.plan.microbatches = any_of_range(1, 1 << any_of_range(1, 21));
  file.plan.accumulate = any_of_range(0, 2) == 1 ? any_of_range(1, kMostAccumulate + 1) : 1;
  for (const LayerId layer : graph.order()) {
    if (graph.layer(layer).is_input) continue;
    if (file.plan.stages.empty() || any_of_range(0, 3) == 0) {
      Stage stage{{}, {}, any_of_range(1, 1 << any_of_range(1, 21)), any_of_range(0, 2) == 1};
      for (int left = any_of_range(1, 5); left > 0; --left) {
        const WorkerId worker{any_of_range(0, file.workers)};
        if (std::find(stage.workers.begin(), stage.workers.end(), worker) == stage.workers.end())
          stage.workers.push_back(worker);
      }
      file.plan.stages.push_back(stage);
      file.predicted.stages.push_back({any_number(), any_bytes(), any_bytes()});
    }
    file.plan.stages.back().layers.push_back(layer);
  }
  file.predicted.seconds_per_minibatch = any_number();
  file.predicted.simulated_seconds_per_minibatch = any_number_or_none();
  file.predicted.samples_per_second = any_number_or_none();
  file.predicted.speedup_over_dp = any_number_or_none();
  file.predicted.bytes_per_minibatch = any_number() * 1e18;
  file.predicted.drain_seconds = any_number();
  file.predicted.gap = any_number_or_none();
  file.predicted.planner_seconds = any_number();
  return file;
}

RC_GTEST_PROP(PlanFileProperty, WhatIsWrittenIsReadBackAsTheSame, ()) {
  const graph::Graph graph = any_graph();
  const PlanFile file = any_plan(graph);
  const std::string text = to_json(file, graph);
  RC_LOG() << text;
  RC_ASSERT(difference(parse_plan(text, "p.json", graph), file) == "");
}

// A file that is cut short, or in which one byte is changed, is either read or refused with a
// BadFile.
RC_GTEST_PROP(PlanFileProperty, ADamagedFileIsReadOrRefused, ()) {
  const graph::Graph graph = any_graph();
  std::string text = to_json(any_plan(graph), graph);
  const auto at = any_of_range<std::size_t>(0, text.size());
  if (any_of_range(0, 2) == 1)
    text.resize(at);
  else
    text[at] = static_cast<char>(any_of_range(0, 256));
  RC_LOG() << text;
  try {
    (void)parse_plan(text, "p.json", graph);
  } catch (const BadFile& bad) {
    const std::string what = bad.what();
    RC_ASSERT(what.find("p.json") == 0U);
    RC_ASSERT(what.find('\n') == std::string::npos);
  }
}

// A plan for one network is refused for a network with other layers.
RC_GTEST_PROP(PlanFileProperty, APlanForAnotherNetworkIsRefused, ()) {
  const graph::Graph graph = any_graph();
  const std::string text = to_json(any_plan(graph), graph);
  graph::Builder builder;
  for (const graph::Layer& layer : graph.layers()) builder.add_layer("other" + layer.name, "", {});
  const graph::Graph other = std::move(builder).build();
  RC_ASSERT_THROWS_AS((void)parse_plan(text, "p.json", other), BadFile);
}

}  // namespace
}  // namespace pipedream::plan
