#include "runtime/mailbox.h"

#include <algorithm>

#include <ATen/ops/cat.h>

#include "core/check.h"
#include "runtime/tensor_message.h"

namespace pipedream::runtime {

using schedule::Kind;
using schedule::Replicas;
using schedule::Routes;

// A stage that hands over several gradient terms of a value stacks them along a new dimension 0, so
// that the samples are dimension 1.
std::int64_t Mailbox::samples_dimension(const Parcel& parcel) const {
  return parcel.kind == Kind::kGradient && order_.terms_from(parcel.value, parcel.user) > 1 ? 1 : 0;
}

// Each transfer and kind has a tag of its own. Messages of one tag pass in the order in which the
// programs send and receive their items.
int Mailbox::tag_of(const Parcel& parcel) const {
  return static_cast<int>(routes_.transfer_of(parcel.value, parcel.user)) * 2 +
         (parcel.kind == Kind::kGradient ? 1 : 0);
}

const graph::Transfer& Mailbox::transfer_of(const Parcel& parcel) const {
  return routes_.transfers()[routes_.transfer_of(parcel.value, parcel.user)];
}

at::Tensor Mailbox::part_of(const at::Tensor& tensor, const Range& mine, const Range& theirs,
                            const Parcel& parcel, bool is_weight) const {
  if (is_weight && parcel.kind == Kind::kActivation) return tensor;
  const std::int64_t begin = std::max(mine.first, theirs.first);
  const std::int64_t end = std::min(mine.first + mine.count, theirs.first + theirs.count);
  const bool is_for_them = is_weight ? begin < end && begin == mine.first : begin < end;
  if (!is_for_them) return at::empty({0}, tensor.options());
  if (is_weight || end - begin == mine.count) return tensor;
  return tensor.slice(samples_dimension(parcel), begin - mine.first, end - mine.first);
}

void Mailbox::post(const Parcel& parcel, int replica, const at::Tensor& tensor) {
  const graph::Transfer& transfer = transfer_of(parcel);
  const StageId maker = Routes::maker(transfer, parcel.kind);
  const StageId taker = Routes::taker(transfer, parcel.kind);
  const bool together = routes_.shares_items();
  const std::int64_t samples = together ? samples_(parcel.item) : 0;
  const Range mine = even_part(samples, replica, routes_.replicas(maker));
  routes_.for_each_peer(maker, replica, taker, parcel.item.minibatch, [&](int peer, double) {
    const Range theirs = even_part(samples, peer, routes_.replicas(taker));
    const at::Tensor part =
        together ? part_of(tensor, mine, theirs, parcel, transfer.is_weight) : tensor;
    const WorkerId worker = routes_.worker(taker, peer);
    if (worker == transport_.me())
      PD_CHECK(incoming_.emplace(std::pair(parcel, worker), part).second);
    else
      PD_CHECK(outgoing_.emplace(std::pair(parcel, worker), part).second);
  });
}

void Mailbox::send(const schedule::Send& send) {
  const Parcel parcel{send.value, send.user, send.item, send.kind};
  auto node = outgoing_.extract({parcel, send.peer});
  PD_CHECK(!node.empty());
  transport::Message message = transport_.takes_device_memory()
                                   ? to_message(node.mapped())
                                   : to_message(copies_.to_host(node.mapped()));
  message.header.push_back(clock_.now().count());
  sent_ += Bytes{static_cast<std::int64_t>(message.bytes.size())};
  transport_.send(send.peer, tag_of(parcel), std::move(message));
}

void Mailbox::receive(const schedule::Recv& recv) {
  const Parcel parcel{recv.value, recv.user, recv.item, recv.kind};
  const bool fresh =
      incoming_.emplace(std::pair(parcel, recv.peer), transport_.receive(recv.peer, tag_of(parcel)))
          .second;
  PD_CHECK(fresh);
}

at::Tensor Mailbox::arrived(Incoming& incoming, Nanos& came) {
  if (auto* tensor = std::get_if<at::Tensor>(&incoming)) return std::move(*tensor);
  const Nanos before = clock_.now();
  transport::Message message = transport_.wait(std::get<transport::Ticket>(incoming),
                                               std::chrono::steady_clock::now() + patience_);
  const Nanos after = clock_.now();
  const Nanos left{message.header.back()};
  message.header.pop_back();
  came += std::max(Nanos{0}, after - std::max(before, left));
  return copies_.to_device(to_tensor(message));
}

at::Tensor Mailbox::joined(std::vector<at::Tensor> parts, const Parcel& parcel,
                           bool is_weight) const {
  if (parts.size() > 1 && parts[0].numel() == 0) parts.erase(parts.begin());
  if (!is_weight) return parts.size() == 1 ? parts[0] : at::cat(parts, samples_dimension(parcel));
  at::Tensor whole = parts.back();
  if (parcel.kind == Kind::kGradient)  // from the last replica to the first, as autograd sums
    for (std::size_t i = parts.size() - 1; i-- > 0;) whole = whole + parts[i];
  return whole;
}

at::Tensor Mailbox::take(const Parcel& parcel, int replica, Nanos& came) {
  const graph::Transfer& transfer = transfer_of(parcel);
  const StageId maker = Routes::maker(transfer, parcel.kind);
  const StageId taker = Routes::taker(transfer, parcel.kind);
  std::vector<at::Tensor> parts;
  routes_.for_each_peer(taker, replica, maker, parcel.item.minibatch, [&](int peer, double) {
    auto node = incoming_.extract({parcel, routes_.worker(maker, peer)});
    PD_CHECK(!node.empty());
    at::Tensor part = arrived(node.mapped(), came);
    if (parts.empty() || part.numel() > 0) parts.push_back(std::move(part));
  });
  return joined(std::move(parts), parcel, transfer.is_weight);
}

}  // namespace pipedream::runtime
