// Properties of all schedules. The fast and the slow tests choose the sizes. Only
// *_property_test.cpp and *_slow_test.cpp files include this.
#pragma once

#include <string>
#include <vector>

#include <rapidcheck.h>

#include "schedule/any_schedule_testing.h"
#include "schedule/mutations_testing.h"
#include "schedule/naive_interpreter_testing.h"
#include "schedule/validate.h"

namespace pipedream::schedule {

[[nodiscard]] inline std::vector<Violation> validate(const std::vector<Program>& programs,
                                                     const Case& of) {
  return validate(programs, of.schedule.rules, of.pipeline.plan, of.pipeline.graph);
}

inline void log(const Case& of, const std::vector<Program>& programs,
                const std::vector<Violation>& violations) {
  RC_LOG() << "system " << of.system.name << "\n";
  for (const Program& program : programs)
    RC_LOG() << "worker " << program.worker.value << ": " << to_text(program, true) << "\n";
  for (const Violation& v : violations)
    RC_LOG() << "worker " << v.worker.value << ", op " << v.op_index << ": " << v.what << "\n";
}

// Expects that a random schedule is valid. By the validator's first rule it then also runs with
// sends that block.
inline void expect_any_schedule_valid(const Sizes& sizes,
                                      const std::vector<AnySystem>& systems = known_systems()) {
  const Case any = any_case(sizes, systems);
  const auto programs = lower(any.schedule, any.pipeline);
  const auto violations = validate(programs, any);
  if (!violations.empty()) log(any, programs, violations);
  RC_ASSERT(violations.empty());
}

// Expects that programs with one thing changed are valid exactly if the naive interpreter can run
// them.
inline void expect_agreement_on_a_changed_schedule(const Sizes& sizes) {
  const Case any = any_case(sizes);
  auto programs = lower(any.schedule, any.pipeline);
  auto change = static_cast<Change>(test::any_of_range(0, kChanges));
  auto what = mutate(change, programs);
  if (!what) what = mutate(change = Change::kDropped, programs);
  const auto violations = validate(programs, any);
  const std::string problem =
      why_not_runnable(programs, any.schedule.rules, any.pipeline.plan, any.pipeline.graph);
  const bool may_be_harmless = change == Change::kSwapped || change == Change::kMoved;
  const bool agree = violations.empty() == problem.empty();
  if (!agree || (violations.empty() && !may_be_harmless)) {
    log(any, programs, violations);
    RC_LOG() << *what << "\ninterpreter: " << (problem.empty() ? "runs" : problem) << "\n";
  }
  RC_ASSERT(agree);
  RC_ASSERT(!violations.empty() || may_be_harmless);
}

}  // namespace pipedream::schedule
