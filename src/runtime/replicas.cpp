#include "runtime/replicas.h"

#include <algorithm>

#include "core/check.h"
#include "runtime/stage.h"

namespace pipedream::runtime {
namespace {

using transport::Deadline;

// The length of the time that both [begin, end] and [from, to] contain.
Nanos overlap_of(Deadline begin, Deadline end, Deadline from, Deadline to) {
  return std::max(Nanos{0}, Nanos(std::min(end, to) - std::max(begin, from)));
}

}  // namespace

ReplicaGradients::ReplicaGradients(transport::Transport& channel, transport::Sum device_sums,
                                   const schedule::Routes& routes,
                                   const AveragingOptions& averaging, const HostCopies& copies,
                                   std::chrono::milliseconds patience)
    : channel_(channel),
      device_sums_(averaging.way.exchange == Exchange::kRing ? std::move(device_sums)
                                                             : transport::Sum{}),
      routes_(routes),
      averaging_(averaging),
      copies_(copies),
      patience_(patience) {}

void ReplicaGradients::add(StageId id, Stage& stage) {
  if (!reducer_)
    reducer_ = device_sums_ ? std::make_unique<transport::Reducer>(channel_, device_sums_)
                            : std::make_unique<transport::Reducer>(channel_, averaging_.way);
  buckets_[id] = std::make_unique<GradientBuckets>(stage.weights().parameters(),
                                                   stage.bucket_layout(averaging_.buckets));
}

void ReplicaGradients::begin(const schedule::Reduce& reduce) {
  const auto [round, is_new] = rounds_.try_emplace({reduce.stage, reduce.update});
  PD_CHECK(is_new);
  buckets_.at(reduce.stage)
      ->begin([this, reduce, into = &round->second](std::size_t, const at::Tensor& flat) {
        const Summand summand = summand_of(flat);
        into->summed.push_back(summand.floats);
        const std::span<float> values(summand.floats.data_ptr<float>(),
                                      static_cast<std::size_t>(flat.numel()));
        into->sums.push_back(
            reducer_->start(routes_.plan().stage(reduce.stage).workers, reduce.stage.value, values,
                            std::make_shared<at::Tensor>(summand.floats), summand.is_there));
      });
}

ReplicaGradients::Summand ReplicaGradients::summand_of(const at::Tensor& flat) const {
  if (!device_sums_) {
    const HostCopies::Copy copy = copies_.to_host(flat);
    return {copy.tensor, copy.readiness()};
  }
  const auto filled = std::make_shared<const model::Mark>(flat.device());
  return {flat, [filled] { return filled->has_come(); }};
}

void ReplicaGradients::expect(const schedule::Reduce& reduce) {
  if (buckets_.contains(reduce.stage)) begin(reduce);
}

void ReplicaGradients::start(const schedule::Reduce& reduce) {
  GradientBuckets& buckets = *buckets_.at(reduce.stage);
  if (!buckets.is_open()) begin(reduce);
  rounds_.at({reduce.stage, reduce.update}).buckets = buckets.finish();
}

ReplicaGradients::Waited ReplicaGradients::wait(const schedule::Await& await) {
  Round& round = rounds_.at({await.stage, await.update});
  const Deadline before = std::chrono::steady_clock::now();
  std::vector<transport::Reduction> sums;
  for (const transport::Ticket ticket : round.sums)
    sums.push_back(reducer_->wait(ticket, before + patience_));
  const Deadline after = std::chrono::steady_clock::now();
  // The copies to the device are queued on the worker's stream, before the update that reads them.
  for (std::size_t b = 0; b < sums.size(); ++b)
    if (!round.summed[b].is_same(round.buckets.flat[b]))
      round.buckets.flat[b].copy_(round.summed[b], /*non_blocking=*/true);
  Waited waited{.began = after, .ended = after};
  for (const transport::Reduction& sum : sums) {
    waited.others += overlap_of(sum.began, sum.began + sum.waited, before, after);
    waited.began = std::min(waited.began, sum.began);
    sent_ += sum.sent;
  }
  if (!sums.empty()) waited.ended = sums.back().ended;
  waited.transfer = Nanos(after - before) - waited.others;
  return waited;
}

void ReplicaGradients::used_up(StageId stage, WeightVersion update) {
  auto node = rounds_.extract({stage, update});
  PD_CHECK(!node.empty());
  buckets_.at(stage)->give_back(std::move(node.mapped().buckets));
}

}  // namespace pipedream::runtime
