#include "runtime/parameter_server.h"

#include <bit>
#include <cstring>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include "core/check.h"
#include "core/thread.h"
#include "model/threads.h"
#include "runtime/failure.h"

namespace pipedream::runtime {
namespace {

std::vector<std::vector<std::shared_ptr<at::Tensor>>> copies_of(const model::Tensors& shard,
                                                                std::size_t count) {
  std::vector<std::vector<std::shared_ptr<at::Tensor>>> copies(count);
  for (auto& copy : copies)
    for (const at::Tensor& weights : shard)
      copy.push_back(std::make_shared<at::Tensor>(weights.clone()));
  return copies;
}

}  // namespace

ParameterServer::ParameterServer(transport::Transport& pushes, transport::Transport& replies,
                                 std::vector<WorkerId> members, model::Tensors shard,
                                 std::unique_ptr<Optimiser> optimiser, int threads)
    : pushes_(pushes),
      replies_(replies),
      members_(std::move(members)),
      shard_(std::move(shard)),
      optimiser_(std::move(optimiser)),
      answers_(copies_of(shard_, members_.size())),
      heard_(std::chrono::steady_clock::now().time_since_epoch().count()),
      thread_(start_helper(
          "pd-server",
          [this, threads, meter = c10::ThreadLocalDebugInfo::current()] { run(threads, meter); })) {
}

ParameterServer::~ParameterServer() { thread_.join(); }

void ParameterServer::rethrow_failure() {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void ParameterServer::run(int threads, std::shared_ptr<c10::ThreadLocalDebugInfo> meter) {
  // The thread shares the worker's memory meter (model/memory_meter.h), because each frees memory
  // that the other allocated: the worker frees the optimiser's state, which this thread allocates,
  // and this thread may free what the worker allocates.
  const c10::DebugInfoGuard metered(std::move(meter));
  try {
    serve(threads);
  } catch (const transport::Aborted&) {  // reported by the worker that failed
  } catch (...) {
    const std::string reason = to_reason(std::current_exception());
    {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
    pushes_.abort(reason);
    replies_.abort(reason);
  }
}

void ParameterServer::serve(int threads) {
  const at::NoGradGuard no_grad;
  model::use_threads(threads);
  std::vector<transport::Ticket> tickets;
  for (const WorkerId member : members_) tickets.push_back(pushes_.receive(member, 0));
  std::size_t settled = 0;
  for (;;) {
    // No deadline: workers may take long between pushes, and a lost worker aborts the channel.
    const transport::Arrival arrival = pushes_.wait_any(tickets, transport::Deadline::max());
    heard_ = std::chrono::steady_clock::now().time_since_epoch().count();
    switch (Request{arrival.message.header.at(0)}) {
      case Request::kGradients:
        apply(arrival.ticket, arrival.message);
        break;
      case Request::kSettle:
        if (++settled == members_.size()) {
          settled = 0;
          for (std::size_t member = 0; member < members_.size(); ++member) answer(member, 0);
        }
        break;
      case Request::kLeave:
        return;
    }
    tickets[arrival.ticket] = pushes_.receive(members_[arrival.ticket], 0);
  }
}

void ParameterServer::apply(std::size_t member, const transport::Message& message) {
  const auto bucket = static_cast<std::size_t>(message.header.at(1));
  at::Tensor& weights = shard_.at(bucket);
  PD_CHECK(message.bytes.size() == weights.nbytes());
  transport::wait_until(message.is_ready);
  if (weights.numel() > 0) {
    // The optimiser may overwrite the gradient: no other server gets this part of the bucket.
    const at::Tensor gradient = at::from_blob(const_cast<std::byte*>(message.bytes.data()),
                                              weights.sizes(), at::TensorOptions());
    const auto rate = std::bit_cast<double>(message.header.at(3));
    optimiser_->step({bucket, weights, gradient, weights, /*divisor=*/1, rate});
  }
  if (bucket + 1 < shard_.size()) return;
  const std::int64_t behind = version_ - message.header.at(2);
  ++version_;
  answer(member, behind);
}

void ParameterServer::answer(std::size_t member, std::int64_t behind) {
  for (std::size_t bucket = 0; bucket < shard_.size(); ++bucket) {
    const at::Tensor& weights = shard_[bucket];
    const auto count = static_cast<std::size_t>(weights.numel());
    const std::shared_ptr<at::Tensor>& kept = answers_[member][bucket];
    // The worker has used its previous answer, but the transport may still hold the memory. In that
    // case the answer gets memory from outside libtorch: the transport's thread frees it, and no
    // meter counts there.
    const auto copy = kept.use_count() == 1
                          ? std::shared_ptr<float[]>(kept, kept->data_ptr<float>())
                          : std::make_shared_for_overwrite<float[]>(count);
    if (count > 0) std::memcpy(copy.get(), weights.const_data_ptr<float>(), weights.nbytes());
    replies_.send(members_[member], 0,
                  {{version_, behind}, std::as_bytes(std::span(copy.get(), count)), copy});
  }
}

}  // namespace pipedream::runtime
