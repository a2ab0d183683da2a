#include "schedule/routes.h"

#include "core/check.h"
#include "core/match.h"

namespace pipedream::schedule {

Routes::Routes(const plan::Plan& plan, const graph::Graph& graph, Replicas kind)
    : plan_(plan), shares_items_(kind == Replicas::kShareItems) {
  const auto stage_of = plan::stage_of_each_layer(plan, graph);
  transfers_ = graph::transfers_between(graph, stage_of);
  const std::size_t stages = plan.stages.size();
  std::vector<std::vector<std::size_t>> into(stages);
  std::vector<std::vector<std::size_t>> out_of(stages);
  for (std::size_t t = 0; t < transfers_.size(); ++t) {
    into[transfers_[t].to.index()].push_back(t);
    out_of[transfers_[t].from.index()].push_back(t);
  }
  std::vector<bool> loads(stages);
  for (const graph::Value& value : graph.values())
    if (graph.layer(value.producer).is_input)
      for (const LayerId user : value.consumers) loads[stage_of[user.index()].index()] = true;
  std::vector<std::vector<WorkerStage>> parts(static_cast<std::size_t>(plan::worker_count(plan)));
  for (std::size_t s = 0; s < stages; ++s) {
    const auto& workers = plan.stages[s].workers;
    rows_.push_back({ends_.size(), ends_.size() + into[s].size(), workers_.size(),
                     static_cast<int>(workers.size()), loads[s]});
    ends_.insert(ends_.end(), into[s].begin(), into[s].end());
    ends_.insert(ends_.end(), out_of[s].begin(), out_of[s].end());
    workers_.insert(workers_.end(), workers.begin(), workers.end());
    for (std::size_t r = 0; r < workers.size(); ++r)
      parts[workers[r].index()].push_back({id_at<StageId>(s), static_cast<int>(r)});
  }
  rows_.push_back({ends_.size(), ends_.size(), workers_.size(), 0, false});
  for (const std::vector<WorkerStage>& of_worker : parts) {
    first_part_.push_back(parts_.size());
    parts_.insert(parts_.end(), of_worker.begin(), of_worker.end());
  }
  first_part_.push_back(parts_.size());
}

std::size_t Routes::transfer_of(ValueId value, StageId user) const {
  const auto found = std::find_if(transfers_.begin(), transfers_.end(), [&](const auto& transfer) {
    return transfer.value == value && transfer.to == user;
  });
  PD_CHECK(found != transfers_.end());
  return static_cast<std::size_t>(found - transfers_.begin());
}

StageId Routes::stage_of(const Op& op) const {
  const auto transfer = [&](const auto& end) -> const graph::Transfer& {
    return transfers_[transfer_of(end.value, end.user)];
  };
  return std::visit(Match{[&](const Send& send) { return maker(transfer(send), send.kind); },
                          [&](const Recv& recv) { return taker(transfer(recv), recv.kind); },
                          [](const auto& other) { return other.stage; }},
                    op);
}

std::optional<int> Routes::replica(StageId stage, WorkerId worker) const {
  if (worker.index() + 1 >= first_part_.size()) return std::nullopt;
  for (std::size_t i = first_part_[worker.index()]; i < first_part_[worker.index() + 1]; ++i)
    if (parts_[i].stage == stage) return parts_[i].replica;
  return std::nullopt;
}

}  // namespace pipedream::schedule
