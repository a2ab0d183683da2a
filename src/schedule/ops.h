// The ops of which every schedule is made. A schedule is data: one Program per worker, made by a
// generator, completed by lowering (schedule/lower.h), checked by the validator, and interpreted by
// the simulator and the runtime alike.
#pragma once

#include <cstdint>
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

enum class Part { kFull, kInput, kWeight };  // of a backward that is split

struct Backward {
  StageId stage;
  Item item;
  WeightVersion weights;
  Part part = Part::kFull;
  friend bool operator==(const Backward&, const Backward&) = default;
};

enum class Kind { kActivation, kGradient };

// One value of one item to another worker, or its gradient back. Made by lowering alone.
struct Send {
  ValueId value;
  Item item;
  Kind kind = Kind::kActivation;
  WorkerId peer;
  friend bool operator==(const Send&, const Send&) = default;
};

// Its other end. The receive is under way from here on at the latest; the op that uses the value
// waits for it.
struct Recv {
  ValueId value;
  Item item;
  Kind kind = Kind::kActivation;
  WorkerId peer;
  friend bool operator==(const Recv&, const Recv&) = default;
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

using Op = std::variant<Load, Forward, Backward, Send, Recv, Update>;

struct Program {
  WorkerId worker;
  std::vector<Op> ops;
  friend bool operator==(const Program&, const Program&) = default;
};

// The text form: F3@1 is the forward of minibatch 3 with weight version 1; 2:F3.1@1 the same on
// stage 2 for microbatch 1. B likewise (b: input gradient only, w: weight gradient only), L3 loads,
// U3>4 updates version 3 to 4, SA5#3>1 sends the activation of value 5 for minibatch 3 to worker 1,
// RG5#3<1 receives its gradient.
[[nodiscard]] std::string to_text(const Op& op, bool with_stage = false);
[[nodiscard]] std::string to_text(const Program& program, bool with_stage = false);

}  // namespace pipedream::schedule
