// What passes between the stages: values and gradients on their way to and from one worker.
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

// One value of an item for the stage `user`, or the gradient back from there.
struct Parcel {
  ValueId value;
  StageId user;
  schedule::Item item;
  schedule::Kind kind = schedule::Kind::kActivation;
  friend auto operator<=>(const Parcel&, const Parcel&) = default;
};

// Owned and used by one worker; collaborators outlive it. Where replicas share items sample by
// sample, it cuts and joins what passes between groups of different sizes. Weights that another
// stage uses too go whole to each replica that shares samples; their gradient goes to the first of
// them that has any, and the others get an empty tensor: so it counts once in their sum.
class Mailbox {
 public:
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

  // Before a schedule is run.
  void begin(Samples samples) { samples_ = std::move(samples); }

  // What a stage of this worker made, for whoever takes it: another stage of this worker has it at
  // once, for others it waits for its Send. An item without samples here is an empty tensor.
  void post(const Parcel& parcel, int replica, const at::Tensor& tensor);
  void send(const schedule::Send& send);
  void receive(const schedule::Recv& recv);

  // What one of this worker's stages needs; waits for it. `came` gets how long it waited for what
  // was already on its way. Throws WorkerLost after `patience`.
  [[nodiscard]] at::Tensor take(const Parcel& parcel, int replica, Nanos& came);

  [[nodiscard]] Bytes sent() const { return sent_; }

 private:
  using Incoming = std::variant<at::Tensor, transport::Ticket>;
  [[nodiscard]] std::int64_t samples_dimension(const Parcel& parcel) const;
  [[nodiscard]] const graph::Transfer& transfer_of(const Parcel& parcel) const;
  [[nodiscard]] int tag_of(const Parcel& parcel) const;
  // What a replica that has the samples `theirs` gets of what one with `mine` made.
  [[nodiscard]] at::Tensor part_of(const at::Tensor& tensor, const Range& mine, const Range& theirs,
                                   const Parcel& parcel, bool is_weight) const;
  [[nodiscard]] at::Tensor joined(std::vector<at::Tensor> parts, const Parcel& parcel,
                                  bool is_weight) const;
  [[nodiscard]] at::Tensor arrived(Incoming& incoming, Nanos& came);

  transport::Transport& transport_;
  const schedule::Routes& routes_;
  const GradientOrder& order_;
  const HostCopies& copies_;
  Clock clock_;
  std::chrono::milliseconds patience_;
  Samples samples_;
  std::map<std::pair<Parcel, WorkerId>, at::Tensor> outgoing_;
  std::map<std::pair<Parcel, WorkerId>, Incoming> incoming_;  // by sender
  Bytes sent_;
};

}  // namespace pipedream::runtime
