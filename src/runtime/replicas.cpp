#include "runtime/replicas.h"

#include <algorithm>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "core/check.h"

namespace pipedream::runtime {

ReplicaGradients::ReplicaGradients(transport::Transport& channel, const schedule::Routes& routes,
                                   std::chrono::milliseconds patience)
    : routes_(routes), patience_(patience) {
  for (std::size_t s = 0; s < routes.plan().stages.size(); ++s) {
    const auto stage = id_at<StageId>(s);
    if (routes.replicas(stage) > 1 && routes.replica(stage, channel.me()) && !reducer_)
      reducer_ = std::make_unique<transport::Reducer>(channel);
  }
}

void ReplicaGradients::start(const schedule::Reduce& reduce, const model::Tensors& gradients,
                             const model::Tensors& parameters) {
  const at::NoGradGuard no_grad;
  std::int64_t count = 0;
  for (const at::Tensor& parameter : parameters) count += parameter.numel();
  Round round{at::empty({count}), {}, {}};
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t size = parameters[i].numel();
    round.views.push_back(round.flat.slice(0, begin, begin + size).view(parameters[i].sizes()));
    if (gradients[i].defined())
      round.views[i].copy_(gradients[i]);
    else
      round.views[i].zero_();
    begin += size;
  }
  const auto& members = routes_.plan().stage(reduce.stage).workers;
  const auto replicas = static_cast<std::int64_t>(members.size());
  sent_ += Bytes{2 * (replicas - 1) * count / replicas * static_cast<std::int64_t>(sizeof(float))};
  round.ticket = reducer_->start(members, reduce.stage.value,
                                 {round.flat.data_ptr<float>(), static_cast<std::size_t>(count)},
                                 std::make_shared<at::Tensor>(round.flat));
  const bool fresh = rounds_.emplace(std::pair(reduce.stage, reduce.update), round).second;
  PD_CHECK(fresh);
}

ReplicaGradients::Waited ReplicaGradients::wait(const schedule::Await& await) {
  const Round& round = rounds_.at({await.stage, await.update});
  const auto before = std::chrono::steady_clock::now();
  const transport::Reduction sum = reducer_->wait(round.ticket, before + patience_);
  const auto after = std::chrono::steady_clock::now();
  const auto all_there = std::clamp(sum.began + sum.waited, before, after);
  return {std::chrono::duration_cast<Nanos>(all_there - before),
          std::chrono::duration_cast<Nanos>(after - all_there)};
}

model::Tensors ReplicaGradients::take(StageId stage, WeightVersion update) {
  auto node = rounds_.extract({stage, update});
  PD_CHECK(!node.empty());
  return std::move(node.mapped().views);
}

}  // namespace pipedream::runtime
