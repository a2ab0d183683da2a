#include "runtime/asynchronous.h"

#include <algorithm>
#include <bit>

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include "runtime/pace.h"
#include "runtime/tags.h"
#include "runtime/tensor_message.h"
#include "runtime/writers.h"

namespace pipedream::runtime {
namespace {

// The part of a bucket of `floats` floats that belongs to server number `server` of `servers`.
Range shard_of(std::int64_t floats, std::size_t server, std::size_t servers) {
  return even_part(floats, static_cast<std::int64_t>(server), static_cast<std::int64_t>(servers));
}

// The floats `part` of a weight tensor, counted as they lie in memory.
at::Tensor floats_of(const at::Tensor& weight, const Range& part) {
  return weight.as_strided({weight.numel()}, {1}).slice(0, part.first, part.first + part.count);
}

transport::Message to_server(Request request) {
  return {{static_cast<std::int64_t>(request)}, {}, {}};
}

}  // namespace

AsynchronousWeights::AsynchronousWeights(const Channels& channels, std::vector<WorkerId> members,
                                         Stage& stage, const HostCopies& copies,
                                         const BucketSizes& sizes,
                                         std::unique_ptr<Optimiser> optimiser, int threads,
                                         std::chrono::milliseconds patience)
    : channels_(channels),
      members_(std::move(members)),
      stage_(stage),
      copies_(copies),
      patience_(patience),
      buckets_(stage.weights().parameters(), stage.bucket_layout(sizes)),
      versions_(members_.size()) {
  const model::Tensors& first = stage.weights().newest_weights();
  const std::size_t me = transport::place_in(members_, channels.pushes.me());
  const BucketLayout& layout = buckets_.layout();
  model::Tensors shard;
  for (std::size_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    const Range range = shard_of(layout.floats(bucket), me, members_.size());
    shard.push_back(at::empty({range.count}));
    std::int64_t begin = 0;
    for (const auto& [parameter, part] : layout.pieces(bucket, range)) {
      shard.back().slice(0, begin, begin + part.count).copy_(floats_of(first[parameter], part));
      begin += part.count;
    }
  }
  server_ = std::make_unique<ParameterServer>(channels.pushes, channels.replies, members_,
                                              std::move(shard), std::move(optimiser), threads);
}

AsynchronousWeights::~AsynchronousWeights() {
  channels_.pushes.send(channels_.pushes.me(), 0, to_server(Request::kLeave));
}

void AsynchronousWeights::expect(double rate) {
  buckets_.begin(
      [this, rate](std::size_t bucket, const at::Tensor& flat) { send(bucket, flat, rate); });
}

void AsynchronousWeights::send(std::size_t bucket, const at::Tensor& flat, double rate) {
  const HostCopies::Copy copy = copies_.to_host(flat);
  for (std::size_t server = 0; server < members_.size(); ++server) {
    const auto [first, count] = shard_of(flat.numel(), server, members_.size());
    const std::span floats(copy.tensor.const_data_ptr<float>() + first,
                           static_cast<std::size_t>(count));
    const auto bytes = std::as_bytes(floats);
    if (members_[server] != channels_.pushes.me())
      sent_ += Bytes{static_cast<std::int64_t>(bytes.size())};
    transport::Message message = to_server(Request::kGradients);
    message.header.push_back(static_cast<std::int64_t>(bucket));
    message.header.push_back(versions_[server]);
    message.header.push_back(std::bit_cast<std::int64_t>(rate));
    message.bytes = bytes;
    message.owner = std::make_shared<at::Tensor>(copy.tensor);
    message.is_ready = copy.readiness();
    channels_.pushes.send(members_[server], 0, std::move(message));
  }
}

void AsynchronousWeights::push(double rate) {
  if (!buckets_.is_open()) expect(rate);
  pushed_ = buckets_.finish();
}

void AsynchronousWeights::pull(WeightVersion to) {
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  const model::Tensors& weights = stage_.weights().renew(to);
  for (std::size_t server = 0; server < members_.size(); ++server) {
    const std::int64_t behind = fetch(server, weights, [&] { return deadline; });
    lateness_.most = std::max(lateness_.most, behind);
    lateness_.sum += behind;
    ++lateness_.count;
  }
  // A server answers only after it has applied the gradients, so none reads them any more.
  buckets_.give_back(std::move(pushed_));
}

void AsynchronousWeights::settle() {
  for (const WorkerId member : members_)
    channels_.pushes.send(member, 0, to_server(Request::kSettle));
  // Other workers may still have many minibatches to push. The deadline moves on whenever this
  // worker's server receives a message, which shows that they are alive.
  const auto began = std::chrono::steady_clock::now();
  const auto deadline = [&] { return std::max(began, server_->last_heard()) + patience_; };
  const model::Tensors& weights = stage_.weights().renew({stage_.weights().newest().value + 1});
  for (std::size_t server = 0; server < members_.size(); ++server)
    (void)fetch(server, weights, deadline);
}

namespace {

// Returns the part of `own`, one server's state of a bucket, that belongs to `count` floats from
// `begin` on. Empty if no step was made yet. A number, such as the count of steps, is the same for
// all parts.
at::Tensor part_of(const OptimiserState& own, const std::string& name, std::int64_t begin,
                   std::int64_t count) {
  if (own.empty()) return at::empty({0});
  const at::Tensor& whole = own.at(name);
  return whole.dim() > 0 && whole.numel() > 0 ? whole.slice(0, begin, begin + count) : whole;
}

// Puts the part of one server into `whole`, the state of a parameter with these weights.
void put_into(at::Tensor& whole, const BucketLayout::Piece& piece, const at::Tensor& part,
              const at::Tensor& weights) {
  if (part.dim() == 0) {
    whole = part.clone();
    return;
  }
  if (!whole.defined()) whole = at::empty_like(weights, at::TensorOptions(at::kCPU));
  floats_of(whole, piece.range).copy_(part);
}

}  // namespace

std::map<std::size_t, OptimiserState> AsynchronousWeights::gather_state(
    transport::Transport& control) const {
  const BucketLayout& layout = buckets_.layout();
  const std::size_t servers = members_.size();
  const std::vector<std::size_t> writers = writers_of(stage_.weights().newest_weights(), servers);
  std::map<std::size_t, OptimiserState> gathered;
  // All workers go through all pieces in the same order, so that each knows what comes next.
  for (std::size_t bucket = 0; bucket < layout.buckets(); ++bucket)
    for (std::size_t server = 0; server < servers; ++server) {
      std::int64_t begin = 0;
      for (const auto& piece :
           layout.pieces(bucket, shard_of(layout.floats(bucket), server, servers))) {
        gather_piece({bucket, server, begin, writers[piece.parameter]}, piece, control, gathered);
        begin += piece.range.count;
      }
    }
  // No worker may push while another still uses the state of a server.
  meet(control, members_, patience_);
  return gathered;
}

// The server of the piece sends what it has to the worker that writes the parameter's state.
void AsynchronousWeights::gather_piece(const PlaceOfPiece& at_place,
                                       const BucketLayout::Piece& piece,
                                       transport::Transport& control,
                                       std::map<std::size_t, OptimiserState>& gathered) const {
  const std::size_t me = transport::place_in(members_, channels_.pushes.me());
  const std::size_t writer = at_place.writer;
  if (at_place.server != me && writer != me) return;
  const OptimiserState own =
      at_place.server == me ? server_->optimiser().state(at_place.bucket) : OptimiserState{};
  for (const std::string& name : state_names()) {
    const at::Tensor part =
        at_place.server == me
            ? part_of(own, name, at_place.begin, piece.range.count)
            : to_tensor(next_message(control, members_[at_place.server], kTensors, patience_));
    if (writer != me)
      control.send(members_[writer], kTensors, to_message(part.clone()));
    else if (part.numel() > 0)  // else no step was made yet
      put_into(gathered[piece.parameter][name], piece, part,
               stage_.weights().newest_weights()[piece.parameter]);
  }
}

void AsynchronousWeights::set_state(
    transport::Transport& control,
    const std::function<OptimiserState(std::size_t parameter)>& find) {
  const BucketLayout& layout = buckets_.layout();
  const std::size_t me = transport::place_in(members_, channels_.pushes.me());
  const model::Tensors& weights = stage_.weights().newest_weights();
  for (std::size_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    const Range range = shard_of(layout.floats(bucket), me, members_.size());
    OptimiserState state;
    std::int64_t begin = 0;
    for (const auto& [parameter, part] : layout.pieces(bucket, range)) {
      for (const auto& [name, saved] : find(parameter)) {
        if (saved.dim() == 0) {
          state[name] = saved;
          continue;
        }
        at::Tensor& shard = state[name];
        if (!shard.defined()) shard = at::zeros({range.count});
        // In memory as the parameter lies there, which need not be the order of its dimensions.
        const at::Tensor whole = at::empty_like(weights[parameter], at::TensorOptions(at::kCPU));
        whole.copy_(saved);
        shard.slice(0, begin, begin + part.count).copy_(floats_of(whole, part));
      }
      begin += part.count;
    }
    server_->optimiser().set_state(bucket, state, server_->weights(bucket));
  }
  meet(control, members_, patience_);
}

std::int64_t AsynchronousWeights::fetch(std::size_t server, const model::Tensors& weights,
                                        const MovingDeadline& deadline) {
  const BucketLayout& layout = buckets_.layout();
  std::int64_t behind = 0;
  for (std::size_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    const transport::Message answer = message_of(server, deadline);
    versions_[server] = answer.header.at(0);
    behind = answer.header.at(1);
    const std::byte* from = answer.bytes.data();
    const Range range = shard_of(layout.floats(bucket), server, members_.size());
    for (const auto& [parameter, part] : layout.pieces(bucket, range)) {
      // from_blob wants mutable memory.
      floats_of(weights[parameter], part)
          .copy_(at::from_blob(const_cast<std::byte*>(from), {part.count}));
      from += static_cast<std::size_t>(part.count) * sizeof(float);
    }
  }
  return behind;
}

transport::Message AsynchronousWeights::message_of(std::size_t server,
                                                   const MovingDeadline& deadline) {
  const transport::Ticket ticket = channels_.replies.receive(members_[server], 0);
  for (;;) {
    const transport::Deadline until = deadline();
    try {
      transport::Message message = channels_.replies.wait_any({&ticket, 1}, until).message;
      if (members_[server] != channels_.replies.me())
        sent_ += Bytes{static_cast<std::int64_t>(message.bytes.size())};
      return message;
    } catch (const transport::Aborted&) {
      server_->rethrow_failure();
      throw;
    } catch (const WorkerLost&) {
      if (deadline() <= until) throw;
    }
  }
}

}  // namespace pipedream::runtime
