// Random networks cut into stages at random: lowered 1F1B is always valid, and what is broken in it
// is always found.
#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"
#include "graph/cut.h"
#include "schedule/lower.h"
#include "schedule/one_f_one_b.h"
#include "schedule/schedule_testing.h"
#include "schedule/validate.h"

namespace pipedream::schedule {
namespace {

using test::any_index;
using test::any_of_range;

// Up to eleven layers with one or two outputs, some of them inputs; any edge to a later layer.
graph::Graph any_graph() {
  graph::Builder builder;
  std::vector<std::size_t> outputs_of;
  for (int to = any_of_range(1, 12); to > 0; --to) {
    std::vector<graph::Builder::Output> outputs{{"first", {}, Bytes{1}}};
    if (any_of_range(0, 3) == 0) outputs.push_back({"second", {}, Bytes{1}});
    const std::string name = "layer" + std::to_string(to);
    const bool is_input = any_of_range(0, 5) == 0;
    const std::size_t count = outputs.size();
    const LayerId layer = is_input ? builder.add_input(name, std::move(outputs))
                                   : builder.add_layer(name, "", std::move(outputs));
    for (std::size_t from = 0; from < outputs_of.size() && !is_input; ++from)
      for (std::size_t k = 0; k < outputs_of[from]; ++k)
        if (any_of_range(0, 3) == 0) builder.add_edge(id_at<LayerId>(from), k, layer);
    outputs_of.push_back(count);
  }
  return std::move(builder).build();
}

// One to six stages, some perhaps empty, on workers in any order.
plan::Plan any_plan(const graph::Graph& graph) {
  plan::Plan plan;
  plan.stages.resize(static_cast<std::size_t>(any_of_range(1, 7)));
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    plan.stages[s].workers = {id_at<WorkerId>(s)};
  for (std::size_t s = plan.stages.size(); s > 1; --s)
    std::swap(plan.stages[s - 1].workers, plan.stages[any_index(s)].workers);
  std::vector<std::size_t> stages;
  for (std::size_t i = 0; i < graph.layers().size(); ++i)
    stages.push_back(any_index(plan.stages.size()));
  std::sort(stages.begin(), stages.end());
  for (std::size_t i = 0; i < graph.layers().size(); ++i) {
    const LayerId layer = graph.order()[i];
    if (!graph.layer(layer).is_input) plan.stages[stages[i]].layers.push_back(layer);
  }
  return plan;
}

struct Example {
  Pipeline pipeline;
  int minibatches = 0;
  std::vector<Program> compute;  // before lowering
  std::vector<Program> programs;
};

Example any_example() {
  Example example;
  example.pipeline.graph = any_graph();
  example.pipeline.plan = any_plan(example.pipeline.graph);
  example.minibatches = any_of_range(1, 21);
  example.compute = one_f_one_b(example.pipeline.plan, example.minibatches);
  example.programs = lower(example.compute, example.pipeline.plan, example.pipeline.graph);
  for (const std::string& text : texts_of(example.programs, true)) RC_LOG() << text << "\n";
  return example;
}

template <class... Kinds>
bool is_any(const Op& op) {
  return (std::holds_alternative<Kinds>(op) || ...);
}

// A place of the programs whose op `wanted` accepts; all such places are equally likely.
template <class Wanted>
std::pair<std::size_t, std::size_t> any_place(const std::vector<Program>& programs, Wanted wanted) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t p = 0; p < programs.size(); ++p)
    for (std::size_t i = 0; i < programs[p].ops.size(); ++i)
      if (wanted(programs[p].ops, i)) places.emplace_back(p, i);
  RC_PRE(!places.empty());
  return places[any_index(places.size())];
}

RC_GTEST_PROP(ScheduleProperty, LoweredOneFOneBIsValid, ()) {
  RC_ASSERT(validate(any_example().programs).empty());
}

RC_GTEST_PROP(ScheduleProperty, LoweringKeepsWorkersAndTheOrderOfCompute, ()) {
  Example example = any_example();
  for (Program& program : example.programs)
    std::erase_if(program.ops, [](const Op& op) { return is_any<Load, Send, Recv>(op); });
  RC_ASSERT(example.programs == example.compute);
}

RC_GTEST_PROP(ScheduleProperty, EveryCrossingValueHasOneSendAndOneRecvEachWay, ()) {
  const Example example = any_example();
  using Move = std::tuple<ValueId, Item, Kind, WorkerId, WorkerId>;  // from, to
  std::multiset<Move> wanted;
  const auto& [graph, plan] = example.pipeline;
  for (const auto& t : graph::transfers_between(graph, plan::stage_of_each_layer(plan, graph)))
    for (std::int64_t m = 0; m < example.minibatches; ++m) {
      const WorkerId from = plan.stage(t.from).workers[0];
      const WorkerId to = plan.stage(t.to).workers[0];
      wanted.emplace(t.value, Item{m, 0}, Kind::kActivation, from, to);
      wanted.emplace(t.value, Item{m, 0}, Kind::kGradient, to, from);
    }
  std::multiset<Move> sent;
  std::multiset<Move> received;
  for (const Program& program : example.programs)
    for (const Op& op : program.ops) {
      if (const auto* s = std::get_if<Send>(&op))
        sent.emplace(s->value, s->item, s->kind, program.worker, s->peer);
      if (const auto* r = std::get_if<Recv>(&op))
        received.emplace(r->value, r->item, r->kind, r->peer, program.worker);
    }
  RC_ASSERT(sent == wanted);
  RC_ASSERT(received == wanted);
}

RC_GTEST_PROP(ScheduleProperty, EveryForwardThatUsesAnInputLoadsItRightBefore, ()) {
  const Example example = any_example();
  const graph::Graph& graph = example.pipeline.graph;
  std::set<StageId> loading;
  for (std::size_t s = 0; s < example.pipeline.plan.stages.size(); ++s)
    for (const LayerId layer : example.pipeline.plan.stages[s].layers)
      for (const ValueId input : graph.layer(layer).inputs)
        if (graph.layer(graph.value(input).producer).is_input) loading.insert(id_at<StageId>(s));
  for (const Program& program : example.programs)
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
      const auto* forward = std::get_if<Forward>(&program.ops[i]);
      if (forward == nullptr) continue;
      const bool loads = i > 0 && program.ops[i - 1] == Op(Load{forward->stage, forward->item});
      RC_ASSERT(loads == loading.contains(forward->stage));
    }
}

// Loads apart, of which the programs alone do not tell who needs one (validate.h).
RC_GTEST_PROP(ScheduleProperty, ADroppedOpIsAlwaysFound, ()) {
  Example example = any_example();
  const auto [p, i] = any_place(example.programs, [](const std::vector<Op>& ops, std::size_t at) {
    return !is_any<Load>(ops[at]);
  });
  auto& ops = example.programs[p].ops;
  RC_LOG() << "dropped " << to_text(ops[i], true);
  ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
  RC_ASSERT(!validate(example.programs).empty());
}

RC_GTEST_PROP(ScheduleProperty, ADoubledOpIsAlwaysFound, ()) {
  Example example = any_example();
  const auto [p, i] = any_place(example.programs, [](const std::vector<Op>& ops, std::size_t at) {
    return !is_any<Load>(ops[at]);
  });
  auto& ops = example.programs[p].ops;
  RC_LOG() << "doubled " << to_text(ops[i], true);
  ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(i), Op(ops[i]));
  RC_ASSERT(!validate(example.programs).empty());
}

RC_GTEST_PROP(ScheduleProperty, AChangedVersionIsAlwaysFound, ()) {
  Example example = any_example();
  const auto [p, i] = any_place(example.programs, [](const std::vector<Op>& ops, std::size_t at) {
    return is_any<Forward, Backward, Update>(ops[at]);
  });
  Op& op = example.programs[p].ops[i];
  const auto change = [&](WeightVersion& version) {
    const std::int64_t other = any_of_range(-1, example.minibatches + 1);
    version.value = other < version.value ? other : other + 1;
  };
  RC_LOG() << to_text(op, true) << " became ";
  if (auto* f = std::get_if<Forward>(&op)) change(f->weights);
  if (auto* b = std::get_if<Backward>(&op)) change(b->weights);
  if (auto* u = std::get_if<Update>(&op)) change(any_of_range(0, 2) == 0 ? u->from : u->to);
  RC_LOG() << to_text(op, true);
  RC_ASSERT(!validate(example.programs).empty());
}

// The plainest way to run programs whose sends block: try all pairs of workers until nothing moves.
bool all_finish(const std::vector<Program>& programs) {
  std::vector<std::size_t> next(programs.size());
  const auto head = [&](std::size_t p) {
    return next[p] < programs[p].ops.size() ? &programs[p].ops[next[p]] : nullptr;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t p = 0; p < programs.size(); ++p) {
      while (head(p) != nullptr && !is_any<Send, Recv>(*head(p))) {
        ++next[p];
        moved = true;
      }
      for (std::size_t q = 0; q < programs.size(); ++q) {
        if (head(p) == nullptr || head(q) == nullptr) continue;
        const auto* send = std::get_if<Send>(head(p));
        const auto* recv = std::get_if<Recv>(head(q));
        if (send == nullptr || recv == nullptr) continue;
        if (send->peer != programs[q].worker || recv->peer != programs[p].worker) continue;
        if (std::tie(send->value, send->item, send->kind) !=
            std::tie(recv->value, recv->item, recv->kind))
          continue;
        ++next[p];
        ++next[q];
        moved = true;
      }
    }
  }
  for (std::size_t p = 0; p < programs.size(); ++p)
    if (head(p) != nullptr) return false;
  return true;
}

// Only swaps with another transfer can make anybody wait; some of them do no harm.
RC_GTEST_PROP(ScheduleProperty, ASwappedTransferIsFoundExactlyWhenSomebodyWaitsForEver, ()) {
  Example example = any_example();
  const auto [p, i] = any_place(example.programs, [](const std::vector<Op>& ops, std::size_t at) {
    return at > 0 && is_any<Send, Recv>(ops[at]) && is_any<Send, Recv>(ops[at - 1]);
  });
  auto& ops = example.programs[p].ops;
  RC_LOG() << "swapped " << to_text(ops[i - 1]) << " and " << to_text(ops[i]);
  std::swap(ops[i - 1], ops[i]);
  const bool finish = all_finish(example.programs);
  RC_CLASSIFY(finish, "harmless");
  RC_ASSERT(validate(example.programs).empty() == finish);
}

}  // namespace
}  // namespace pipedream::schedule
