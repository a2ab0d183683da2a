#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/error.h"
#include "core/property_testing.h"
#include "schedule/schedule_text.h"

namespace pipedream::schedule {
namespace {

using test::any_index;
using test::any_of_range;

// Returns a random plan with up to four stages of up to three replicas, on up to six workers. A
// worker may have several stages.
plan::Plan any_plan() {
  plan::Plan plan;
  for (int s = any_of_range(1, 5); s > 0; --s) {
    plan::Stage stage{{id_at<LayerId>(plan.stages.size())}, {}};
    const int first = any_of_range(0, 4);
    for (int r = any_of_range(1, 4); r > 0; --r) stage.workers.push_back(WorkerId{first + r - 1});
    stage.recompute = any_of_range(0, 3) == 0;
    plan.stages.push_back(stage);
  }
  return plan;
}

std::vector<StageId> stages_of(const plan::Plan& plan, WorkerId worker) {
  std::vector<StageId> stages;
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (const WorkerId each : plan.stages[s].workers)
      if (each == worker) stages.push_back(id_at<StageId>(s));
  return stages;
}

// Returns a random number from 0 to `highest`. Most are below 5.
std::int64_t any_number(std::int64_t highest) {
  return any_of_range<std::int64_t>(0, any_of_range(0, 4) == 0 ? highest + 1 : 5);
}

Item any_item() {
  return {any_number(1'000'000'000), static_cast<std::int32_t>(any_number(1'000'000))};
}
WeightVersion any_version() { return {any_number(1'000'000'000)}; }

// Returns a random op that a user may write. The minibatches of an update are left to the reader.
Op any_op(StageId stage) {
  switch (any_of_range(0, 10)) {
    case 0:
      return Forward{stage, any_item(), any_version()};
    case 1:
      return Recompute{stage, any_item(), any_version()};
    case 2:
      return Backward{stage, any_item(), any_version()};
    case 3:
      return Backward{stage, any_item(), any_version(), BackwardPart::kInput};
    case 4:
      return Backward{stage, any_item(), any_version(), BackwardPart::kWeight};
    case 5:
      return Reduce{stage, any_version()};
    case 6:
      return Await{stage, any_version()};
    case 7:
      return Push{stage, any_item()};
    case 8:
      return Pull{stage, any_version()};
    default:
      return Update{stage, any_version(), any_version()};
  }
}

// Returns a random program for every worker that has a stage. Each has a recomputation and an
// update, so that the reader adds nothing.
std::vector<Program> any_complete_programs(const plan::Plan& plan) {
  std::vector<Program> programs;
  for (int w = 0; w < plan::worker_count(plan); ++w) {
    const auto stages = stages_of(plan, WorkerId{w});
    if (stages.empty()) continue;
    std::vector<Op> ops{Recompute{stages[0], any_item(), any_version()},
                        Update{stages[0], any_version(), any_version()}};
    for (int i = any_of_range(0, 12); i > 0; --i)
      ops.insert(ops.begin() + any_of_range<std::ptrdiff_t>(0, std::ssize(ops) + 1),
                 any_op(stages[any_index(stages.size())]));
    programs.push_back({WorkerId{w}, ops});
  }
  std::int64_t minibatches = 0;
  for (const Program& program : programs)
    for (const Op& op : program.ops)
      if (!std::holds_alternative<Update>(op))
        minibatches = std::max(minibatches, minibatch_of(op).value_or(-1) + 1);
  for (Program& program : programs)
    for (Op& op : program.ops)
      if (auto* update = std::get_if<Update>(&op)) {
        const auto replicas = std::ssize(plan.stage(update->stage).workers);
        update->first = update->from.value * replicas;
        update->last = update->first + replicas - 1;
        if (replicas > 1) update->last = std::min(update->last, minibatches - 1);
      }
  return programs;
}

// Returns a random text of the programs. A program may take several lines, and the lines of
// different programs may be mixed.
std::string any_text_of(const std::vector<Program>& programs, const plan::Plan& plan) {
  std::string text;
  std::vector<std::size_t> next(programs.size());
  std::vector<std::size_t> left;
  for (std::size_t p = 0; p < programs.size(); ++p) left.push_back(p);
  while (!left.empty()) {
    const std::size_t at = any_index(left.size());
    const Program& program = programs[left[at]];
    const bool with_stage = stages_of(plan, program.worker).size() > 1 || any_of_range(0, 2) == 0;
    text += "worker " + std::to_string(program.worker.value) + ":";
    std::size_t& i = next[left[at]];
    for (int n = any_of_range(0, 8); n > 0 && i < program.ops.size(); --n, ++i)
      text += " " + to_text(program.ops[i], with_stage);
    text += any_of_range(0, 3) == 0 ? " # F0\n" : "\n";
    if (i == program.ops.size()) left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return text;
}

std::string full_text_of(const std::vector<Program>& programs) {
  std::string text;
  for (const Program& program : programs)
    text += "worker " + std::to_string(program.worker.value) + ": " + to_text(program, true) + "\n";
  return text;
}

// Returns whether the text was read. Expects that what is read can be written and read again, that
// nothing but BadFile is thrown, and that its message is one line.
bool is_read_or_refused(const std::string& text, const plan::Plan& plan) {
  try {
    const Schedule schedule = read_schedule_text(text, "s.txt", plan);
    const std::vector<Program> programs = programs_of(schedule);
    const Schedule again = read_schedule_text(full_text_of(programs), "again.txt", plan);
    RC_ASSERT(programs_of(again) == programs);
    RC_ASSERT(again.rules.traits.flushes == schedule.rules.traits.flushes);
    RC_ASSERT(again.rules.traits.asynchronous == schedule.rules.traits.asynchronous);
    return true;
  } catch (const BadFile& refusal) {
    const std::string_view message = refusal.what();
    RC_ASSERT(message.starts_with("s.txt:"));
    RC_ASSERT(message.find('\n') == std::string_view::npos);
    RC_ASSERT(message.size() < 500U);
    return false;
  }
}

RC_GTEST_PROP(ScheduleTextProperty, WhatIsWrittenInFullIsReadBackAsTheSame, ()) {
  const plan::Plan plan = any_plan();
  const std::vector<Program> programs = any_complete_programs(plan);
  const std::string text = any_text_of(programs, plan);
  RC_LOG() << text;
  RC_ASSERT(programs_of(read_schedule_text(text, "s.txt", plan)) == programs);
}

RC_GTEST_PROP(ScheduleTextProperty, WhatWasFilledInIsReadBackAsItIs, ()) {
  const plan::Plan plan = any_plan();
  std::string text;
  for (int w = 0; w < plan::worker_count(plan); ++w) {
    const auto stages = stages_of(plan, WorkerId{w});
    if (stages.empty()) continue;
    text += "worker " + std::to_string(w) + ":";
    for (int i = any_of_range(1, 12); i > 0; --i) {
      const StageId stage = stages[any_index(stages.size())];
      text += " " + std::to_string(stage.value) + ":" + "FFFBBBBbwC"[any_index(10)] +
              std::to_string(any_of_range(0, 5));
      if (any_of_range(0, 4) == 0) text += ".1";
      if (any_of_range(0, 6) == 0) text += "@1";
    }
    text += "\n";
  }
  RC_LOG() << text;
  RC_ASSERT(is_read_or_refused(text, plan));
}

RC_GTEST_PROP(ScheduleTextProperty, AnyBytesAreReadOrRefused, ()) {
  const plan::Plan plan = any_plan();
  static const std::string kLikely = "worker 0123:.@>FCBbwUXAPGLSR#\n\t\r";
  std::string text;
  for (int i = any_of_range(0, 100); i > 0; --i) switch (any_of_range(0, 8)) {
      case 0:
        text += "\nworker " + std::to_string(any_of_range(0, 6)) + ": ";
        break;
      case 1:
        text += static_cast<char>(any_of_range(0, 256));
        break;
      case 2:
        text += to_text(any_op(StageId{any_of_range(0, 5)}), any_of_range(0, 2) == 0) + " ";
        break;
      default:
        text += kLikely[any_index(kLikely.size())];
    }
  (void)is_read_or_refused(text, plan);
}

RC_GTEST_PROP(ScheduleTextProperty, OneChangedByteIsReadOrRefused, ()) {
  const plan::Plan plan = any_plan();
  std::string text = any_text_of(any_complete_programs(plan), plan);
  text[any_index(text.size())] = static_cast<char>(any_of_range(0, 256));
  (void)is_read_or_refused(text, plan);
}

}  // namespace
}  // namespace pipedream::schedule
