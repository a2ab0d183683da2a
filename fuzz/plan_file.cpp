// Plan files, for one small network.
#include "plan/plan_file.h"

#include "plan/plan_file_testing.h"
#include "property.h"

using namespace pipedream;

namespace {

// data ─▶ a ─▶ b ─▶ c, and a skips to c.
graph::Graph small_graph() {
  graph::Builder builder;
  builder.add_input("data", {{"out", {}, Bytes{1}}});
  for (const char* name : {"a", "b", "c"}) builder.add_layer(name, "", {{"out", {}, Bytes{1}}});
  builder.add_edge("data", "", "a");
  builder.add_edge("a", "", "b");
  builder.add_edge("b", "", "c");
  builder.add_edge("a", "", "c");
  return std::move(builder).build();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const graph::Graph graph = small_graph();
  fuzz::reads_or_refuses<BadFile>("file.json", [&] {
    const auto file = plan::parse_plan(fuzz::text_of(data, size), "file.json", graph);
    const auto again = plan::parse_plan(plan::to_json(file, graph), "again", graph);
    PD_CHECK(plan::difference(again, file).empty());
  });
  return 0;
}
