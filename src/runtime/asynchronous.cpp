#include "runtime/asynchronous.h"

#include <algorithm>
#include <cstring>

#include <ATen/core/grad_mode.h>

#include "core/even_part.h"

namespace pipedream::runtime {
namespace {

// What server number `server` of `servers` has of a bucket.
at::Tensor shard_of(const at::Tensor& flat, std::size_t server, std::size_t servers) {
  const Range range = even_part(flat.numel(), static_cast<std::int64_t>(server),
                                static_cast<std::int64_t>(servers));
  return flat.slice(0, range.first, range.first + range.count);
}

transport::Message to_server(Request request) {
  return {{static_cast<std::int64_t>(request)}, {}, {}};
}

}  // namespace

AsynchronousWeights::AsynchronousWeights(const Channels& channels, std::vector<WorkerId> members,
                                         Stage& stage, const BucketSizes& sizes,
                                         std::unique_ptr<Optimiser> optimiser, int threads,
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
  const std::size_t me = transport::place_in(members_, channels.pushes.me());
  model::Tensors shard;
  for (const at::Tensor& flat : fetched_.flat)
    shard.push_back(shard_of(flat, me, members_.size()).clone());
  server_ = std::make_unique<ParameterServer>(channels.pushes, channels.replies, members_,
                                              std::move(shard), std::move(optimiser), threads);
}

AsynchronousWeights::~AsynchronousWeights() {
  channels_.pushes.send(channels_.pushes.me(), 0, to_server(Request::kLeave));
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
    transport::Message message = to_server(Request::kGradients);
    message.header.push_back(static_cast<std::int64_t>(bucket));
    message.header.push_back(versions_[server]);
    message.bytes = bytes;
    message.owner = owner;
    channels_.pushes.send(members_[server], 0, std::move(message));
  }
}

void AsynchronousWeights::push() {
  if (!buckets_.is_open()) expect();
  (void)buckets_.finish();
}

void AsynchronousWeights::pull(WeightVersion to) {
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  for (std::size_t server = 0; server < members_.size(); ++server) {
    const transport::Message reply = reply_of(server, [&] { return deadline; });
    const std::int64_t behind = reply.header.at(1);
    lateness_.most = std::max(lateness_.most, behind);
    lateness_.sum += behind;
    ++lateness_.count;
    if (members_[server] != channels_.replies.me())
      sent_ += Bytes{static_cast<std::int64_t>(reply.bytes.size())};
    keep(server, reply);
  }
  use_fetched(to);
}

void AsynchronousWeights::settle() {
  for (const WorkerId member : members_)
    channels_.pushes.send(member, 0, to_server(Request::kSettle));
  // Others may have much left to push. As long as our own server hears of them, they are well.
  const auto began = std::chrono::steady_clock::now();
  const auto deadline = [&] { return std::max(began, server_->last_heard()) + patience_; };
  for (std::size_t server = 0; server < members_.size(); ++server)
    keep(server, reply_of(server, deadline));
  use_fetched({stage_.weights().newest().value + 1});
}

transport::Message AsynchronousWeights::reply_of(
    std::size_t server, const std::function<transport::Deadline()>& deadline) {
  const transport::Ticket ticket = channels_.replies.receive(members_[server], 0);
  for (;;) {
    const transport::Deadline until = deadline();
    try {
      return channels_.replies.wait_any({&ticket, 1}, until).message;
    } catch (const transport::Aborted&) {
      server_->rethrow_failure();
      throw;
    } catch (const WorkerLost&) {
      if (deadline() <= until) throw;
    }
  }
}

void AsynchronousWeights::keep(std::size_t server, const transport::Message& reply) {
  versions_[server] = reply.header.at(0);
  const std::byte* from = reply.bytes.data();
  for (const at::Tensor& flat : fetched_.flat) {
    const at::Tensor shard = shard_of(flat, server, members_.size());
    if (shard.nbytes() > 0) std::memcpy(shard.mutable_data_ptr(), from, shard.nbytes());
    from += shard.nbytes();
  }
}

void AsynchronousWeights::use_fetched(WeightVersion to) {
  stage_.weights().update(to, fetched_.views,
                          [](std::size_t, const at::Tensor&, const at::Tensor& fetched,
                             const at::Tensor& into) { into.copy_(fetched); });
}

}  // namespace pipedream::runtime
