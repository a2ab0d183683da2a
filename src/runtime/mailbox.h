// Activations and gradients that pass between stages, on their way from and to one worker.
// docs/runtime.md says how tied weights and shared items are handled.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <variant>

#include <ATen/core/Tensor.h>

#include "core/even_part.h"
#include "runtime/clock.h"
#include "runtime/gradient_order.h"
#include "runtime/host_copies.h"
#include "schedule/routes.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// Names a tensor that passes between two stages: the value `value` of `item`, on its way to the
// stage `user` (kActivation), or that value's gradient on its way back from `user` (kGradient).
struct Parcel {
  ValueId value;
  StageId user;  // the stage that uses the value
  schedule::Item item;
  schedule::Kind kind = schedule::Kind::kActivation;
  friend auto operator<=>(const Parcel&, const Parcel&) = default;
};

// One worker's store of outgoing and incoming parcels. Owned by the worker and used from its thread
// alone. What the constructor is given outlives it, except the clock, which is copied.
//
// Where replicas take items in turn, a parcel goes whole from one replica to one replica. Where
// replicas share items, each replica has a range of an item's samples, and a tensor is cut into the
// ranges of the receiving replicas, which join the pieces. Tied weights have no samples: they go
// whole to every receiving replica that exchanges the item with the sender. The gradient that a
// replica computes for tied weights goes whole to the replica of the owner that has the first of
// its samples, and the others get an empty tensor, so that it is added once.
class Mailbox {
 public:
  // Returns the number of samples of an item, over all replicas.
  using Samples = std::function<std::int64_t(const schedule::Item&)>;
  Mailbox(transport::Transport& transport, const schedule::Routes& routes,
          const GradientOrder& order, const HostCopies& copies, const Clock& clock,
          std::chrono::milliseconds patience)
      : transport_(transport),
        routes_(routes),
        order_(order),
        copies_(copies),
        clock_(clock),
        patience_(patience) {}

  // Must be called before each schedule, with the samples of its items.
  void begin(Samples samples) { samples_ = std::move(samples); }

  // Hands over a tensor that replica `replica` of a stage, on this worker, has made. If the
  // receiving stage is on this worker too, it can take() the tensor at once; for other workers the
  // tensor is kept until its Send. `tensor` is empty if this replica has no samples of the item.
  void post(const Parcel& parcel, int replica, const at::Tensor& tensor);
  // Sends a posted tensor. Does not wait.
  void send(const schedule::Send& send);
  // Asks the transport for a message. Does not wait.
  void receive(const schedule::Recv& recv);

  // The tensor that replica `replica` of a stage, on this worker, needs. Waits until all its pieces
  // have come, which must be posted here or asked for by receive(). Adds to `came` the time that it
  // waited while a message was already in transit. Throws WorkerLost if a message takes longer than
  // `patience`.
  [[nodiscard]] at::Tensor take(const Parcel& parcel, int replica, Nanos& came);

  // Bytes sent to other workers, in all schedules so far.
  [[nodiscard]] Bytes sent() const { return sent_; }

 private:
  // A tensor from another stage of this worker, or a message from another worker.
  using Incoming = std::variant<at::Tensor, transport::Ticket>;
  // The dimension of the parcel's tensor that counts samples.
  [[nodiscard]] std::int64_t samples_dimension(const Parcel& parcel) const;
  [[nodiscard]] const graph::Transfer& transfer_of(const Parcel& parcel) const;
  [[nodiscard]] int tag_of(const Parcel& parcel) const;
  // The piece of `tensor` for a receiving replica. The sender has the samples `mine` of the item,
  // the receiver the samples `theirs`. `is_weight`: the parcel's value is a tied weight.
  [[nodiscard]] at::Tensor part_of(const at::Tensor& tensor, const Range& mine, const Range& theirs,
                                   const Parcel& parcel, bool is_weight) const;
  // The whole tensor from its pieces. Only the first of `parts` may be empty.
  [[nodiscard]] at::Tensor joined(std::vector<at::Tensor> parts, const Parcel& parcel,
                                  bool is_weight) const;
  // Waits for a piece and moves it to this worker's device.
  [[nodiscard]] at::Tensor arrived(Incoming& incoming, Nanos& came);

  transport::Transport& transport_;
  const schedule::Routes& routes_;
  const GradientOrder& order_;
  const HostCopies& copies_;
  Clock clock_;
  std::chrono::milliseconds patience_;
  Samples samples_;
  std::map<std::pair<Parcel, WorkerId>, at::Tensor> outgoing_;  // by parcel and receiver
  std::map<std::pair<Parcel, WorkerId>, Incoming> incoming_;    // by parcel and sender
  Bytes sent_;
};

}  // namespace pipedream::runtime
