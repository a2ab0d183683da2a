// Fuzzes the parser of schedule text, for two plans: a straight one, and one that has a replicated
// stage, a stage that recomputes, and a worker with two stages. A schedule that is read must
// survive being written and read, with all that the parser filled in. lower() and validate() must
// have an answer for any programs.
#include "schedule/schedule_text.h"

#include "graph/graph_testing.h"
#include "property.h"
#include "schedule/lower.h"
#include "schedule/validate.h"

using namespace pipedream;

namespace {

plan::Plan plan_of(std::vector<WorkerId> first, WorkerId second, WorkerId third, bool recompute) {
  return {{{{LayerId{1}}, std::move(first)},
           {{LayerId{2}}, {second}, 1, recompute},
           {{LayerId{3}}, {third}}}};
}

std::string text_of(const std::vector<schedule::Program>& programs) {
  std::string text;
  for (const schedule::Program& program : programs)
    text += "worker " + std::to_string(program.worker.value) + ": " +
            schedule::to_text(program, true) + "\n";
  return text;
}

void try_on(std::string_view text, const plan::Plan& plan) {
  static const graph::Graph graph = graph::skipping_graph();
  const auto schedule = schedule::read_schedule_text(text, "file.txt", plan);
  const auto programs = schedule::programs_of(schedule);
  const auto again = schedule::read_schedule_text(text_of(programs), "again", plan);
  PD_CHECK(schedule::programs_of(again) == programs);
  PD_CHECK(again.rules.traits.flushes == schedule.rules.traits.flushes);
  PD_CHECK(again.rules.traits.asynchronous == schedule.rules.traits.asynchronous);
  (void)schedule::validate(programs, schedule.rules, plan, graph);
  try {
    const auto lowered = schedule::lower(schedule, plan, graph);
    (void)schedule::validate(lowered, schedule.rules, plan, graph);
  } catch (const BadValue&) {  // the programs wait for each other, or for a value that none makes
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  static const plan::Plan kStraight = plan_of({{0}}, {1}, {2}, false);
  static const plan::Plan kMixed = plan_of({{0}, {1}}, {2}, {2}, true);
  for (const plan::Plan* plan : {&kStraight, &kMixed})
    fuzz::reads_or_refuses<BadFile>("file.txt", [&] { try_on(text, *plan); });
  return 0;
}
