// The ops that schedules consist of (docs/formats.md#schedule). A schedule is data: one Program per
// worker. A generator makes it, lowering completes it (schedule/lower.h), the validator checks it
// (schedule/validate.h), and both the simulator and the runtime interpret it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ids.h"

namespace pipedream::schedule {

// A microbatch of a minibatch. A minibatch that is not cut is one item, with microbatch 0.
struct Item {
  std::int64_t minibatch = 0;
  std::int32_t microbatch = 0;
  friend auto operator<=>(const Item&, const Item&) = default;
};

// Read the inputs that the stage's layers take from the data set. Every stage that uses an input
// reads it itself; all of them follow the same stream of sample indices.
struct Load {
  StageId stage;
  Item item;
  friend bool operator==(const Load&, const Load&) = default;
};

// Run the stage's layers on an item. The last stage also computes the loss.
struct Forward {
  StageId stage;
  Item item;
  WeightVersion weights;
  friend bool operator==(const Forward&, const Forward&) = default;
};

// Run the stage's forward again, to restore the activations that the backward needs and that the
// first forward did not keep.
struct Recompute {
  StageId stage;
  Item item;
  WeightVersion weights;
  friend bool operator==(const Recompute&, const Recompute&) = default;
};

// A backward computes both gradients (kFull), or is split into two ops: first the gradient of the
// stage's inputs (kInput), then the gradient of its weights (kWeight).
enum class BackwardPart { kFull, kInput, kWeight };

struct Backward {
  StageId stage;
  Item item;
  WeightVersion weights;
  BackwardPart part = BackwardPart::kFull;
  friend bool operator==(const Backward&, const Backward&) = default;
};

// What crosses between two stages: a value, in the forward pass, or the gradient of that value.
enum class Kind { kActivation, kGradient };

// Send one value of one item to the worker `peer`, whose stage `user` takes it (kActivation). Or
// send the gradient of that value from stage `user` back to the worker that made the value
// (kGradient). Generators do not emit this op; lowering adds it.
struct Send {
  ValueId value;
  StageId user;
  Item item;
  Kind kind = Kind::kActivation;
  WorkerId peer;
  friend bool operator==(const Send&, const Send&) = default;
};

// Receive what the Send of the worker `peer` with the same `value`, `user`, `item` and `kind`
// sends. The receive is posted here at the latest. The worker does not wait here: the op that uses
// the value does.
struct Recv {
  ValueId value;
  StageId user;
  Item item;
  Kind kind = Kind::kActivation;
  WorkerId peer;
  friend bool operator==(const Recv&, const Recv&) = default;
};

// Start the all-reduce that averages gradients over all replicas of the stage, for the update that
// gives version `update`. The gradients of this replica are complete here. The averaging runs
// beside compute. If only sends and receives stand between the backward that completes the
// gradients and this op, layers that the backward has finished may be averaged while it still runs.
struct Reduce {
  StageId stage;
  WeightVersion update;
  friend bool operator==(const Reduce&, const Reduce&) = default;
};

// Wait until the averaging for the update that gives version `update` is done.
struct Await {
  StageId stage;
  WeightVersion update;
  friend bool operator==(const Await&, const Await&) = default;
};

// Asynchronous data parallelism: send the gradients of a minibatch to the parameter servers, which
// apply them in the order in which they arrive.
struct Push {
  StageId stage;
  Item item;
  friend bool operator==(const Push&, const Push&) = default;
};

// Asynchronous data parallelism: fetch the weights that the parameter servers hold. `to` is the
// number of this worker's fetches so far, this one included. Which of the servers' versions it gets
// depends on timing.
struct Pull {
  StageId stage;
  WeightVersion to;
  friend bool operator==(const Pull&, const Pull&) = default;
};

// Apply the gradients of the minibatches `first` … `last` to version `from`, giving version `to`.
struct Update {
  StageId stage;
  WeightVersion from;
  WeightVersion to;
  std::int64_t first = 0;
  std::int64_t last = 0;
  friend bool operator==(const Update&, const Update&) = default;
};

using Op =
    std::variant<Load, Forward, Recompute, Backward, Send, Recv, Reduce, Await, Push, Pull, Update>;

struct Program {
  WorkerId worker;
  std::vector<Op> ops;
  friend bool operator==(const Program&, const Program&) = default;
};

// How a forward, recomputation or backward depends on other stages.
struct Work {
  StageId stage;
  Item item;
  Kind kind = Kind::kActivation;  // what it takes and makes: values or gradients of `item`
  bool takes = true;              // needs values or gradients of other stages
  bool makes = true;              // makes values or gradients for other stages
};
// Returns nullopt for an op that is not a forward, recomputation or backward. A recomputation takes
// the gradients that its backward uses up later, and makes nothing. The weight part of a split
// backward neither takes nor makes anything.
[[nodiscard]] std::optional<Work> work_of(const Op& op);

// Returns the Reduce or Push that may begin while a backward of `stage` still runs: the first op
// after the backward that is not a Send or Recv, if it is a Reduce or Push of `stage`. Otherwise
// returns nullptr. `peek(i)` must return the op that stands i + 1 places after the backward, or
// nullptr if the program ends before it.
template <class Peek>
[[nodiscard]] const Op* release_of_backward(StageId stage, Peek peek) {
  for (std::size_t ahead = 0;; ++ahead) {
    const Op* op = peek(ahead);
    if (op == nullptr) return nullptr;
    if (const auto* reduce = std::get_if<Reduce>(op)) return reduce->stage == stage ? op : nullptr;
    if (const auto* push = std::get_if<Push>(op)) return push->stage == stage ? op : nullptr;
    if (!std::holds_alternative<Send>(*op) && !std::holds_alternative<Recv>(*op)) return nullptr;
  }
}

// Returns the minibatch that an op is about; for an Update, the last one that it applies. Returns
// nullopt for Reduce, Await and Pull, which are about weights alone.
[[nodiscard]] std::optional<std::int64_t> minibatch_of(const Op& op);

// Return the text form of an op, or of all ops of a program with spaces between them:
//   F3@1      forward of minibatch 3 (of its microbatch 0, if it is cut) with weight version 1
//   2:F3.1@1  forward of microbatch 1 of minibatch 3 on stage 2 (`with_stage`)
//   B3@1      backward; b3@1: input gradient only; w3@1: weight gradient only
//   C3@1      recomputation
//   L3        load
//   U3>4      update of version 3 to version 4
//   X4, A4    begin, and wait for, the averaging for the update to version 4
//   P3, G4    push the gradients of minibatch 3; fetch weights for the fourth time
//   SA5#3>1   send value 5 of minibatch 3 to worker 1
//   RG5#3<1   receive the gradient of value 5 of minibatch 3 from worker 1
[[nodiscard]] std::string to_text(const Op& op, bool with_stage = false);
[[nodiscard]] std::string to_text(const Program& program, bool with_stage = false);

}  // namespace pipedream::schedule
