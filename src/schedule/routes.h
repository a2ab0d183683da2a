// Which values cross between the stages of a plan, and which replica hands them to which, for any
// item. Lowering, the validator and the simulator all ask here (ARCHITECTURE.md).
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "graph/cut.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// Immutable after construction, so any thread may use it. Keeps a reference to the plan.
class Routes {
 public:
  // Throws BadValue for a plan that does not fit the graph.
  Routes(const plan::Plan& plan, const graph::Graph& graph, Replicas kind);

  [[nodiscard]] const plan::Plan& plan() const { return plan_; }
  // Returns whether the replicas of a stage share every item. If not, they take minibatches in
  // turn.
  [[nodiscard]] bool shares_items() const { return shares_items_; }

  [[nodiscard]] const std::vector<graph::Transfer>& transfers() const { return transfers_; }
  // taken() returns what an op on `stage` takes from other stages, made() what it makes for them,
  // both as indices into transfers(). A forward (kActivation) takes values of earlier stages. A
  // backward (kGradient) takes gradients from later stages.
  [[nodiscard]] std::span<const std::size_t> taken(StageId stage, Kind kind) const {
    return kind == Kind::kActivation ? into(stage) : out_of(stage);
  }
  [[nodiscard]] std::span<const std::size_t> made(StageId stage, Kind kind) const {
    return kind == Kind::kActivation ? out_of(stage) : into(stage);
  }
  // maker() returns the stage that makes what the transfer carries, taker() the stage that takes
  // it. The transfer carries the value (kActivation) or its gradient (kGradient).
  [[nodiscard]] static StageId maker(const graph::Transfer& transfer, Kind kind) {
    return kind == Kind::kActivation ? transfer.from : transfer.to;
  }
  [[nodiscard]] static StageId taker(const graph::Transfer& transfer, Kind kind) {
    return kind == Kind::kActivation ? transfer.to : transfer.from;
  }
  // Returns the index in transfers() of the transfer that hands `value` to stage `user`. Requires
  // that there is one.
  [[nodiscard]] std::size_t transfer_of(ValueId value, StageId user) const;
  // Returns the stage that an op is run for. For a Send this is the stage that made what is sent,
  // for a Recv the stage that takes it.
  [[nodiscard]] StageId stage_of(const Op& op) const;
  // Returns whether the stage reads something from the data set.
  [[nodiscard]] bool loads(StageId stage) const { return rows_[stage.index()].loads; }

  [[nodiscard]] int replicas(StageId stage) const { return rows_[stage.index()].replicas; }
  // Returns the index of `worker` among the replicas of `stage`, or nullopt if the worker does not
  // run that stage.
  [[nodiscard]] std::optional<int> replica(StageId stage, WorkerId worker) const;
  [[nodiscard]] WorkerId worker(StageId stage, int replica) const {
    return workers_[rows_[stage.index()].first_worker + static_cast<std::size_t>(replica)];
  }
  // Returns whether `replica` runs items of `minibatch`. Where replicas share items, all of them
  // do.
  [[nodiscard]] bool has_part(StageId stage, int replica, std::int64_t minibatch) const {
    return shares_items_ || minibatch % replicas(stage) == replica;
  }

  // Calls with(peer, share) for each replica `peer` of stage `there` that has samples of an item in
  // common with replica `replica` of stage `here`. `share` is the common part of the whole item.
  template <class With>
  void for_each_peer(StageId here, int replica, StageId there, std::int64_t minibatch,
                     With with) const {
    if (!shares_items_) {
      with(static_cast<int>(minibatch % replicas(there)), 1.0);
      return;
    }
    // In units of 1/(mine·theirs) of the item, replica i of `here` has the samples
    // [i·theirs, (i+1)·theirs), and replica j of `there` has [j·mine, (j+1)·mine).
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
  // All tables are flat, because on pipelines of a thousand stages most of the time goes into
  // looking things up.
  //
  // One stage. In ends_, the transfers into it are [into, out_of). The transfers out of it follow,
  // up to `into` of the next row.
  struct Row {
    std::size_t into;
    std::size_t out_of;
    std::size_t first_worker;  // index into workers_ of replica 0
    int replicas;
    bool loads;  // reads something from the data set
  };
  struct WorkerStage {  // a stage that a worker runs, and which of its replicas the worker is
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
  std::vector<Row> rows_;                // by stage; one more row marks the end of the last
  std::vector<std::size_t> ends_;        // indices into transfers_, by stage: into it, out of it
  std::vector<WorkerId> workers_;        // by stage and replica
  std::vector<std::size_t> first_part_;  // index into parts_, by worker; one more marks the end
  std::vector<WorkerStage> parts_;       // by worker
};

}  // namespace pipedream::schedule
