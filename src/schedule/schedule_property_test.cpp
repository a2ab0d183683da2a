// Properties of the schedules of all systems, on random networks that are cut into random stages.
#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "graph/cut.h"
#include "schedule/complete.h"
#include "schedule/cut.h"
#include "schedule/schedule_properties_testing.h"
#include "schedule/worker_counter_testing.h"

namespace pipedream::schedule {
namespace {

using test::any_index;
using test::any_of_range;

constexpr Sizes kSmall{.items = 24};

RC_GTEST_PROP(ScheduleProperty, EveryScheduleIsValid, ()) { expect_any_schedule_valid({}); }

RC_GTEST_PROP(ScheduleProperty, EveryScheduleRuns, ()) {
  const Case any = any_case(kSmall);
  const auto programs = lower(any.schedule, any.pipeline);
  const std::string problem =
      why_not_runnable(programs, any.schedule.rules, any.pipeline.plan, any.pipeline.graph);
  if (!problem.empty()) log(any, programs, {});
  RC_LOG() << problem;
  RC_ASSERT(problem.empty());
}

RC_GTEST_PROP(ScheduleProperty, ValidatorAndInterpreterAgreeOnChangedSchedules, ()) {
  expect_agreement_on_a_changed_schedule({.items = 12, .layers = 8});
}

RC_GTEST_PROP(ScheduleProperty, LoweringKeepsWorkersAndTheOrderOfCompute, ()) {
  const Case any = any_case(kSmall);
  auto programs = lower(any.schedule, any.pipeline);
  for (Program& program : programs)
    std::erase_if(program.ops, [](const Op& op) {
      return std::holds_alternative<Load>(op) || std::holds_alternative<Send>(op) ||
             std::holds_alternative<Recv>(op);
    });
  RC_ASSERT(programs == programs_of(any.schedule));
}

// Complete, which gives programs no common order, produces the same ops as Lowering. All ops but
// sends and receives are also in the same order.
RC_GTEST_PROP(ScheduleProperty, CompletedProgramsHaveTheOpsOfTheLoweredOnes, ()) {
  const Case any = any_case(kSmall);
  const auto lowered = lower(any.schedule, any.pipeline);
  const Routes routes(any.pipeline.plan, any.pipeline.graph, any.schedule.rules.traits.replicas);
  Complete complete(any.schedule, routes);
  const auto sorted = [](std::vector<std::string> texts) {
    std::sort(texts.begin(), texts.end());
    return texts;
  };
  for (std::size_t p = 0; p < complete.programs(); ++p) {
    RC_ASSERT(complete.worker(p) == lowered[p].worker);
    std::vector<std::string> wanted, found, wanted_compute, found_compute;
    const auto note = [](const Op& op, auto& all, auto& compute) {
      all.push_back(to_text(op, true));
      if (!std::holds_alternative<Send>(op) && !std::holds_alternative<Recv>(op))
        compute.push_back(to_text(op, true));
    };
    for (const Op& op : lowered[p].ops) note(op, wanted, wanted_compute);
    for (; const Op* op = complete.peek(p); complete.pop(p)) note(*op, found, found_compute);
    RC_ASSERT(found_compute == wanted_compute);
    RC_ASSERT(sorted(found) == sorted(wanted));
  }
}

// The programs do not depend on the order in which their ops are asked for.
RC_GTEST_PROP(ScheduleProperty, ProgramsTakenInAnyOrderAreTheSame, ()) {
  const Case any = any_case({.items = 8, .layers = 6});
  const auto wanted = lower(any.schedule, any.pipeline);
  const Routes routes(any.pipeline.plan, any.pipeline.graph, any.schedule.rules.traits.replicas);
  Lowering lowering(any.schedule, routes);
  std::vector<Program> programs;
  std::vector<std::size_t> unfinished;
  for (std::size_t p = 0; p < lowering.programs(); ++p) {
    programs.push_back({lowering.worker(p), {}});
    unfinished.push_back(p);
  }
  while (!unfinished.empty()) {
    const std::size_t which = any_index(unfinished.size());
    const std::size_t p = unfinished[which];
    for (int count = any_of_range(1, 20); count > 0 && lowering.peek(p) != nullptr; --count) {
      programs[p].ops.push_back(*lowering.peek(p));
      lowering.pop(p);
    }
    if (lowering.peek(p) == nullptr)
      unfinished.erase(unfinished.begin() + static_cast<std::ptrdiff_t>(which));
  }
  RC_ASSERT(programs == wanted);
}

// Minibatches after which all stages have made whole updates.
std::int64_t round_of(const Case& of) {
  std::int64_t round = 1;
  if (of.schedule.rules.traits.replicas != Replicas::kTakeTurns) return of.pipeline.plan.accumulate;
  for (const plan::Stage& stage : of.pipeline.plan.stages)
    round = std::lcm(round, static_cast<std::int64_t>(stage.workers.size()));
  return round * of.pipeline.plan.accumulate;
}

std::optional<std::int64_t> minibatch_at(const Program& program, std::size_t i) {
  return minibatch_in_program(program.ops[i], [&](std::size_t ahead) {
    return i + 1 + ahead < program.ops.size() ? &program.ops[i + 1 + ahead] : nullptr;
  });
}

// What `program` has before minibatch `end`. The worker learns of the cut at a random point before
// its first op of a later minibatch.
Program cut_anywhere(const Program& program, std::int64_t end) {
  std::set<StageId> stages;
  for (const Op& op : program.ops)
    if (const auto work = work_of(op)) stages.insert(work->stage);
  std::size_t latest = 0;
  while (latest < program.ops.size() && minibatch_at(program, latest).value_or(0) < end) ++latest;
  const std::size_t known = any_index(latest + 1);
  Program kept{program.worker, {}};
  Cut cut;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    if (i == known) cut.end_before(end);
    if (cut.is_done(stages.size())) break;
    if (cut.keeps(program.ops[i], minibatch_at(program, i))) kept.ops.push_back(program.ops[i]);
  }
  return kept;
}

std::vector<Op> without_averaging(const Program& program, bool updates) {
  std::vector<Op> ops;
  for (const Op& op : program.ops)
    if (!std::holds_alternative<Reduce>(op) && !std::holds_alternative<Await>(op) &&
        std::holds_alternative<Update>(op) == updates)
      ops.push_back(op);
  return ops;
}

// A schedule that is cut between two whole updates is the schedule of the minibatches before the
// cut, whenever a worker learns of the cut before it begins a later minibatch. In 2bw an averaging
// may end earlier between the same forwards and backwards.
RC_GTEST_PROP(ScheduleProperty, CanBeCutAtEveryWholeUpdate, ()) {
  const Case any = any_case({.stages = 4, .replicas = 3, .minibatches = 24, .items = 24});
  const std::int64_t whole = (any.extent.minibatches - 1) / round_of(any);
  RC_PRE(whole >= 1);
  const std::int64_t end = round_of(any) * any_of_range<std::int64_t>(1, whole + 1);
  const Extent shorter{end, any.extent.microbatches, any.extent.microbatches};
  const Schedule wanted = any.system.schedule(any.pipeline.plan, shorter, any.system.traits);
  const std::vector<Program> generated = lower(wanted, any.pipeline);
  std::vector<Program> found;
  for (const Program& program : lower(any.schedule, any.pipeline))
    found.push_back(cut_anywhere(program, end));
  const auto violations = validate(found, wanted.rules, any.pipeline.plan, any.pipeline.graph);
  if (!violations.empty()) log(any, found, violations);
  RC_ASSERT(violations.empty());
  const auto without_transfers = [](Program program) {
    std::erase_if(program.ops, [](const Op& op) {
      return std::holds_alternative<Send>(op) || std::holds_alternative<Recv>(op);
    });
    return program;
  };
  for (std::size_t p = 0; p < generated.size(); ++p) {
    const Program mine = without_transfers(found[p]);
    const Program other = without_transfers(generated[p]);
    if (any.system.traits.versions != WeightVersions::kTwo) {
      RC_ASSERT(mine == other);
    } else {
      for (const bool updates : {false, true})
        RC_ASSERT(without_averaging(mine, updates) == without_averaging(other, updates));
    }
  }
}

// Returns the workers of a stage that run samples of the item, each with its share of the item as
// an interval [begin, end) of [0, 1).
std::vector<std::tuple<WorkerId, double, double>> shares(const Case& of, StageId stage, Item item) {
  const auto& workers = of.pipeline.plan.stage(stage).workers;
  if (of.schedule.rules.traits.replicas != Replicas::kShareItems)
    return {{plan::worker_of(of.pipeline.plan, stage, item.minibatch), 0, 1}};
  std::vector<std::tuple<WorkerId, double, double>> found;
  const auto count = static_cast<double>(workers.size());
  for (const WorkerId worker : workers) {
    const auto i = static_cast<double>(found.size());
    found.emplace_back(worker, i / count, (i + 1) / count);
  }
  return found;
}

RC_GTEST_PROP(ScheduleProperty, EveryCrossingValueHasOneSendAndOneRecvEachWay, ()) {
  const Case any = any_case(kSmall);
  // The last two entries are the sender and the receiver.
  using Move = std::tuple<ValueId, StageId, Item, Kind, WorkerId, WorkerId>;
  std::multiset<Move> wanted;
  const auto& [graph, plan] = any.pipeline;
  for (const auto& t : graph::transfers_between(graph, plan::stage_of_each_layer(plan, graph)))
    for (std::int64_t b = 0; b < any.extent.minibatches; ++b)
      for (int m = 0; m < any.extent.microbatches_of(b); ++m)
        for (const auto& [from, from_begin, from_end] : shares(any, t.from, {b, m}))
          for (const auto& [to, to_begin, to_end] : shares(any, t.to, {b, m})) {
            if (std::min(from_end, to_end) - std::max(from_begin, to_begin) < 1e-9) continue;
            if (from == to) continue;
            wanted.emplace(t.value, t.to, Item{b, m}, Kind::kActivation, from, to);
            wanted.emplace(t.value, t.to, Item{b, m}, Kind::kGradient, to, from);
          }
  std::multiset<Move> sent;
  std::multiset<Move> received;
  for (const Program& program : lower(any.schedule, any.pipeline))
    for (const Op& op : program.ops) {
      if (const auto* s = std::get_if<Send>(&op))
        sent.emplace(s->value, s->user, s->item, s->kind, program.worker, s->peer);
      if (const auto* r = std::get_if<Recv>(&op))
        received.emplace(r->value, r->user, r->item, r->kind, r->peer, program.worker);
    }
  RC_ASSERT(sent == wanted);
  RC_ASSERT(received == wanted);
}

RC_GTEST_PROP(ScheduleProperty, EveryForwardThatUsesAnInputLoadsItRightBefore, ()) {
  const Case any = any_case(kSmall);
  const graph::Graph& graph = any.pipeline.graph;
  std::set<StageId> loading;
  for (std::size_t s = 0; s < any.pipeline.plan.stages.size(); ++s)
    for (const LayerId layer : any.pipeline.plan.stages[s].layers)
      for (const ValueId input : graph.layer(layer).inputs)
        if (graph.layer(graph.value(input).producer).is_input) loading.insert(id_at<StageId>(s));
  for (const Program& program : lower(any.schedule, any.pipeline))
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
      const auto* forward = std::get_if<Forward>(&program.ops[i]);
      if (forward == nullptr) continue;
      const bool loads = i > 0 && program.ops[i - 1] == Op(Load{forward->stage, forward->item});
      RC_ASSERT(loads == loading.contains(forward->stage));
    }
}

// All replicas of a stage have the same updates. They apply each minibatch once, and each update
// but the last applies as many rounds as the plan says.
RC_GTEST_PROP(ScheduleProperty, UpdatesOfAllReplicasAreTheSameAndCoverAllMinibatches, ()) {
  const Case any = any_case(kSmall);
  RC_PRE(!any.system.traits.asynchronous);
  std::map<StageId, std::vector<Update>> first;
  for (const Program& program : programs_of(any.schedule)) {
    std::map<StageId, std::vector<Update>> mine;
    for (const Op& op : program.ops)
      if (const auto* update = std::get_if<Update>(&op)) mine[update->stage].push_back(*update);
    for (const auto& [stage, updates] : mine) {
      std::int64_t next = 0;
      const bool takes_turns = any.system.traits.replicas == Replicas::kTakeTurns;
      const auto replicas =
          static_cast<std::int64_t>(any.pipeline.plan.stage(stage).workers.size());
      const std::int64_t each = any.pipeline.plan.accumulate * (takes_turns ? replicas : 1);
      for (const Update& update : updates) {
        RC_ASSERT(update.first == next);
        next = update.last + 1;
        RC_ASSERT(next == std::min(update.first + each, any.extent.minibatches));
      }
      RC_ASSERT(next == any.extent.minibatches);
      RC_ASSERT(first.emplace(stage, updates).first->second == updates);
    }
  }
  RC_ASSERT(first.size() == any.pipeline.plan.stages.size());
}

RC_GTEST_PROP(ScheduleProperty, NoStageKeepsMoreThanItsSystemPromises, ()) {
  const Case any = any_case(kSmall);
  const Rules& rules = any.schedule.rules;
  for (const Program& program : programs_of(any.schedule)) {
    WorkerCounter counter(rules);
    for (const Op& op : program.ops) counter.add(op);
    for (const auto& [stage, of] : counter.stages()) {
      const Counts& peak = of.peak();
      const int depth = rules.in_flight[stage.index()];
      const cost::Traits& traits = any.system.traits;
      const bool replicated = any.pipeline.plan.stage(stage).workers.size() > 1;
      RC_ASSERT(peak.in_flight <= depth);
      RC_ASSERT(peak.gradients <= (!traits.flushes && replicated ? 2 : 1));
      const bool stashed = traits.versions == WeightVersions::kStashed;
      const int stashes = cost::versions_in_flight(depth, any.pipeline.plan.accumulate);
      RC_ASSERT(peak.versions <= (stashed ? stashes : rules.kept()));
    }
  }
}

}  // namespace
}  // namespace pipedream::schedule
