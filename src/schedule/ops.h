// The ops of which every schedule is made. A schedule is data: one Program per worker, made by a
// generator, completed by lowering (schedule/lower.h), checked by the validator, and interpreted by
// the simulator and the runtime alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ids.h"

namespace pipedream::schedule {

struct Item {
  std::int64_t minibatch = 0;
  std::int32_t microbatch = 0;
  friend auto operator<=>(const Item&, const Item&) = default;
};

// Read what the stage's layers take from the data set. Every stage that uses an input reads it
// itself, from the same index stream.
struct Load {
  StageId stage;
  Item item;
  friend bool operator==(const Load&, const Load&) = default;
};

// Run the stage's layers on an item; the last stage computes the loss.
struct Forward {
  StageId stage;
  Item item;
  WeightVersion weights;
  friend bool operator==(const Forward&, const Forward&) = default;
};

// Run the forward again for what the backward needs and the forward did not keep.
struct Recompute {
  StageId stage;
  Item item;
  WeightVersion weights;
  friend bool operator==(const Recompute&, const Recompute&) = default;
};

// Of a backward that is split: the gradient of the inputs, then that of the weights.
enum class Part { kFull, kInput, kWeight };

struct Backward {
  StageId stage;
  Item item;
  WeightVersion weights;
  Part part = Part::kFull;
  friend bool operator==(const Backward&, const Backward&) = default;
};

enum class Kind { kActivation, kGradient };

// One value of one item to another worker, for its stage `user`, or the gradient from there back.
// Made by lowering alone.
struct Send {
  ValueId value;
  StageId user;
  Item item;
  Kind kind = Kind::kActivation;
  WorkerId peer;
  friend bool operator==(const Send&, const Send&) = default;
};

// Its other end. The receive is under way from here on at the latest; the op that uses the value
// waits for it.
struct Recv {
  ValueId value;
  StageId user;
  Item item;
  Kind kind = Kind::kActivation;
  WorkerId peer;
  friend bool operator==(const Recv&, const Recv&) = default;
};

// The replica's gradients for the update that leads to version `update` are complete: all replicas
// of the stage average theirs. Goes on beside compute; where the op before it is the backward that
// completes them, layers that it finished may be averaged while it still runs.
struct Reduce {
  StageId stage;
  WeightVersion update;
  friend bool operator==(const Reduce&, const Reduce&) = default;
};

// Wait until that averaging is done.
struct Await {
  StageId stage;
  WeightVersion update;
  friend bool operator==(const Await&, const Await&) = default;
};

// Asynchronous data parallelism: send a minibatch's gradients to the servers, which apply them as
// they come, and fetch what the servers then hold. `to` counts what this worker has fetched; what
// versions these are at the servers depends on timing.
struct Push {
  StageId stage;
  Item item;
  friend bool operator==(const Push&, const Push&) = default;
};
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

// What a forward, recomputation or backward has to do with other stages: whether it takes values
// (kActivation) or gradients of an item from them, and whether it makes such for them. A
// recomputation takes what its backward then uses up; the weight part of a backward neither takes
// nor makes anything.
struct Work {
  StageId stage;
  Item item;
  Kind kind = Kind::kActivation;
  bool takes = true;
  bool makes = true;
};
[[nodiscard]] std::optional<Work> work_of(const Op& op);

// What the backward of a stage may begin while it still runs: the stage's Reduce or Push, where
// nothing but sends and receives stands between. `peek` gives the ops behind the backward by their
// number, and nullptr behind the last; so does this where there is none.
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

// The minibatch an op is about, the last one for an update; none for those about weights alone.
[[nodiscard]] std::optional<std::int64_t> minibatch_of(const Op& op);

// The text form: F3@1 is the forward of minibatch 3 with weight version 1; 2:F3.1@1 the same on
// stage 2 for microbatch 1. B likewise (b: input gradient only, w: weight gradient only), C
// recomputes, L3 loads, U3>4 updates version 3 to 4, X4 averages for that update and A4 waits for
// it, P3 pushes minibatch 3 and G4 fetches for the fourth time, SA5#3>1 sends the activation of
// value 5 for minibatch 3 to worker 1, RG5#3<1 receives its gradient.
[[nodiscard]] std::string to_text(const Op& op, bool with_stage = false);
[[nodiscard]] std::string to_text(const Program& program, bool with_stage = false);

}  // namespace pipedream::schedule
