// Fuzzes the parser of plan files, for one small network. A plan that is read must survive being
// written and read.
#include "plan/plan_file.h"

#include "graph/graph_testing.h"
#include "plan/plan_file_testing.h"
#include "property.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const graph::Graph graph = graph::skipping_graph();
  fuzz::reads_or_refuses<BadFile>("file.json", [&] {
    const auto file = plan::parse_plan(fuzz::text_of(data, size), "file.json", graph);
    const auto again = plan::parse_plan(plan::to_json(file, graph), "again", graph);
    PD_CHECK(plan::difference(again, file).empty());
  });
  return 0;
}
