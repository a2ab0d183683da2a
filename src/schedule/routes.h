// Who hands which value to whom: what crosses between the stages of a plan, for any item and any
// replica. Lowering, validator and simulator ask here.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "graph/cut.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// Immutable; keeps a reference to the plan.
class Routes {
 public:
  // Throws BadValue for a plan that does not fit the graph.
  Routes(const plan::Plan& plan, const graph::Graph& graph, Replicas kind);

  [[nodiscard]] const plan::Plan& plan() const { return plan_; }
  // Whether the replicas of a stage share every item; else they take turns.
  [[nodiscard]] bool shares_items() const { return shares_items_; }

  [[nodiscard]] const std::vector<graph::Transfer>& transfers() const { return transfers_; }
  // Positions in transfers(): what an op of that kind on the stage takes from others, and makes for
  // them. A forward (kActivation) takes values of earlier stages, a backward gradients of later
  // ones.
  [[nodiscard]] std::span<const std::size_t> taken(StageId stage, Kind kind) const {
    return kind == Kind::kActivation ? into(stage) : out_of(stage);
  }
  [[nodiscard]] std::span<const std::size_t> made(StageId stage, Kind kind) const {
    return kind == Kind::kActivation ? out_of(stage) : into(stage);
  }
  // The stage that makes what passes for that transfer (the value, or its gradient) and the one
  // that takes it.
  [[nodiscard]] static StageId maker(const graph::Transfer& transfer, Kind kind) {
    return kind == Kind::kActivation ? transfer.from : transfer.to;
  }
  [[nodiscard]] static StageId taker(const graph::Transfer& transfer, Kind kind) {
    return kind == Kind::kActivation ? transfer.to : transfer.from;
  }
  // The place in transfers() of what the stage `user` gets of the value. Requires that it does.
  [[nodiscard]] std::size_t transfer_of(ValueId value, StageId user) const;
  // The stage that an op is run for: of a Send the one that made what is sent, of a Recv the one
  // that takes it.
  [[nodiscard]] StageId stage_of(const Op& op) const;
  // Whether the stage reads something from the data set.
  [[nodiscard]] bool loads(StageId stage) const { return rows_[stage.index()].loads; }

  [[nodiscard]] int replicas(StageId stage) const { return rows_[stage.index()].replicas; }
  // Which replica of the stage the worker is; none: it has no part in it.
  [[nodiscard]] std::optional<int> replica(StageId stage, WorkerId worker) const;
  [[nodiscard]] WorkerId worker(StageId stage, int replica) const {
    return workers_[rows_[stage.index()].first_worker + static_cast<std::size_t>(replica)];
  }
  // Whether the replica has a part in the item.
  [[nodiscard]] bool has_part(StageId stage, int replica, std::int64_t minibatch) const {
    return shares_items_ || minibatch % replicas(stage) == replica;
  }

  // Calls with(replica, share) for each replica of `there` that shares samples of the item with
  // `replica` of `here`; the shares are parts of the whole item.
  template <class With>
  void for_each_peer(StageId here, int replica, StageId there, std::int64_t minibatch,
                     With with) const {
    if (!shares_items_) {
      with(static_cast<int>(minibatch % replicas(there)), 1.0);
      return;
    }
    // In units of 1/(mine·theirs) of the item, replica i of mine has [i·theirs, (i+1)·theirs).
    const std::int64_t mine = replicas(here);
    const std::int64_t theirs = replicas(there);
    const std::int64_t begin = replica * theirs;
    const std::int64_t end = begin + theirs;
    for (std::int64_t j = begin / mine; j * mine < end; ++j) {
      const std::int64_t common = std::min(end, (j + 1) * mine) - std::max(begin, j * mine);
      with(static_cast<int>(j), static_cast<double>(common) / static_cast<double>(mine * theirs));
    }
  }

 private:
  // All tables are flat: on pipelines of a thousand stages looking things up is what takes time.
  struct Row {         // of a stage
    std::size_t into;  // first of its own in ends_, then those out of it, up to the next row's
    std::size_t out_of;
    std::size_t first_worker;
    int replicas;
    bool loads;
  };
  struct Part {  // of a worker
    StageId stage;
    int replica;
  };
  [[nodiscard]] std::span<const std::size_t> into(StageId stage) const {
    const Row& row = rows_[stage.index()];
    return {ends_.data() + row.into, row.out_of - row.into};
  }
  [[nodiscard]] std::span<const std::size_t> out_of(StageId stage) const {
    const Row& row = rows_[stage.index()];
    return {ends_.data() + row.out_of, rows_[stage.index() + 1].into - row.out_of};
  }

  const plan::Plan& plan_;
  bool shares_items_;
  std::vector<graph::Transfer> transfers_;
  std::vector<Row> rows_;  // by stage, and one more
  std::vector<std::size_t> ends_;
  std::vector<WorkerId> workers_;
  std::vector<std::size_t> first_part_;  // by worker, and one more
  std::vector<Part> parts_;
};

}  // namespace pipedream::schedule
