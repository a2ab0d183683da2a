#include "runtime/asynchronous.h"

#include <algorithm>
#include <cstring>

#include <ATen/core/grad_mode.h>

#include "core/check.h"
#include "core/even_part.h"

namespace pipedream::runtime {
namespace {

// What server number `server` of `servers` has of a bucket.
at::Tensor shard_of(const at::Tensor& flat, std::size_t server, std::size_t servers) {
  const Range range = even_part(flat.numel(), static_cast<std::int64_t>(server),
                                static_cast<std::int64_t>(servers));
  return flat.slice(0, range.first, range.first + range.count);
}

}  // namespace

AsynchronousWeights::AsynchronousWeights(const Channels& channels, std::vector<WorkerId> members,
                                         Stage& stage, const BucketSizes& sizes,
                                         std::unique_ptr<Optimiser> optimiser,
                                         std::chrono::milliseconds patience)
    : channels_(channels),
      members_(std::move(members)),
      stage_(stage),
      patience_(patience),
      buckets_(stage.weights().parameters(), stage.bucket_layout(sizes)),
      fetched_(buckets_.layout().allocate()),
      versions_(members_.size()) {
  const at::NoGradGuard no_grad;
  const model::Tensors& first = stage.weights().newest_weights();
  for (std::size_t i = 0; i < first.size(); ++i) fetched_.views[i].copy_(first[i]);
  const auto me = static_cast<std::size_t>(
      std::find(members_.begin(), members_.end(), channels.pushes.me()) - members_.begin());
  PD_CHECK(me < members_.size());
  model::Tensors shard;
  for (const at::Tensor& flat : fetched_.flat)
    shard.push_back(shard_of(flat, me, members_.size()).clone());
  server_ = std::make_unique<ParameterServer>(channels.pushes, channels.replies, members_,
                                              std::move(shard), std::move(optimiser));
}

AsynchronousWeights::~AsynchronousWeights() {
  channels_.pushes.send(channels_.pushes.me(), 0, {{kLeave}, {}, {}});
}

void AsynchronousWeights::expect() {
  buckets_.begin([this](std::size_t bucket, const at::Tensor& flat) { send(bucket, flat); });
}

void AsynchronousWeights::send(std::size_t bucket, const at::Tensor& flat) {
  for (std::size_t server = 0; server < members_.size(); ++server) {
    const auto owner = std::make_shared<at::Tensor>(shard_of(flat, server, members_.size()));
    const std::span bytes(static_cast<const std::byte*>(owner->const_data_ptr()), owner->nbytes());
    if (members_[server] != channels_.pushes.me())
      sent_ += Bytes{static_cast<std::int64_t>(bytes.size())};
    channels_.pushes.send(
        members_[server], 0,
        {{kGradients, static_cast<std::int64_t>(bucket), versions_[server]}, bytes, owner});
  }
}

void AsynchronousWeights::push() {
  if (!buckets_.is_open()) expect();
  (void)buckets_.finish();
}

void AsynchronousWeights::pull(WeightVersion to) { fetch(to, /*counts=*/true); }

void AsynchronousWeights::settle() {
  for (const WorkerId member : members_) channels_.pushes.send(member, 0, {{kSettle}, {}, {}});
  fetch({stage_.weights().newest().value + 1}, /*counts=*/false);
}

void AsynchronousWeights::fetch(WeightVersion to, bool counts) {
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  for (std::size_t server = 0; server < members_.size(); ++server) {
    transport::Message message;
    try {
      message = channels_.replies.wait(channels_.replies.receive(members_[server], 0), deadline);
    } catch (const transport::Aborted&) {
      server_->rethrow_failure();
      throw;
    }
    versions_[server] = message.header.at(0);
    if (counts) {
      lateness_.most = std::max(lateness_.most, message.header.at(1));
      lateness_.sum += message.header.at(1);
      ++lateness_.count;
    }
    if (counts && members_[server] != channels_.replies.me())
      sent_ += Bytes{static_cast<std::int64_t>(message.bytes.size())};
    const std::byte* from = message.bytes.data();
    for (const at::Tensor& flat : fetched_.flat) {
      const at::Tensor shard = shard_of(flat, server, members_.size());
      if (shard.nbytes() > 0) std::memcpy(shard.mutable_data_ptr(), from, shard.nbytes());
      from += shard.nbytes();
    }
  }
  stage_.weights().update(to, fetched_.views,
                          [](std::size_t, const at::Tensor&, const at::Tensor& fetched,
                             const at::Tensor& into) { into.copy_(fetched); });
}

}  // namespace pipedream::runtime
