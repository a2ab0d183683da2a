// Lowering completes the programs that generators produce (ARCHITECTURE.md). It adds the loads, and
// for every value that crosses workers a Send and a Recv, of the value and of its gradient.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/fifo.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// Produces the complete programs of a schedule, piece by piece, as they are asked for. Keeps
// references to its arguments. Owned and used by one thread.
//
// All compute ops, loads and transfers get a place in one common order. The programs take turns,
// one op at a time. An op is placed once everything that it takes has been made. A transfer is
// placed right after the op that makes its value. Every program is a subsequence of this order, and
// the order does not depend on which programs are asked for. So nothing deadlocks, even if every
// send blocks until it is received: the first unfinished entry of the order is the next op of every
// program that it concerns. Workers that exchange nothing, not even through others, have separate
// orders, so that one worker may run ahead of the other.
//
// Memory: the ops that were produced for other programs on the way to the op that was asked for. If
// the callers ask in the order in which the programs would run, that is about what is in flight
// between workers.
class Lowering final : public OpSource {
 public:
  // Throws BadValue if a worker has two programs.
  Lowering(const Schedule& schedule, const Routes& routes);

  [[nodiscard]] std::size_t programs() const override { return programs_.size(); }
  [[nodiscard]] WorkerId worker(std::size_t program) const override {
    return programs_[program].worker;
  }

  // Throws BadValue if programs wait for each other in a cycle, if a program waits for an op that
  // no program has, if a worker that must take a value has no program, or if a program runs an op
  // that the plan does not give to its worker.
  [[nodiscard]] const Op* peek(std::size_t program, std::size_t ahead = 0) override {
    ProgramState& of = programs_[program];
    while (of.out.size() <= ahead)
      if (!advance(of.island)) return nullptr;
    return &of.out[ahead];
  }
  void pop(std::size_t program) override { programs_[program].out.pop(); }
  // Discards the ops that were produced for all other programs and not popped.
  void drop_others(std::size_t program) {
    for (std::size_t p = 0; p < programs_.size(); ++p)
      if (p != program) programs_[p].out.clear();
  }

 private:
  // What a program's next op waits for: nothing, a value or gradient, or an averaging.
  enum class Waits { kNo, kValue, kAverage };
  struct ProgramState {
    WorkerId worker;
    const Generator* generator;
    std::int64_t piece = 0;   // the next piece to produce
    Fifo<Op> in;              // produced and not placed
    Fifo<Op> out;             // placed and not popped
    std::int64_t placed = 0;  // number of the generator's ops placed so far
    std::size_t island = 0;   // index into islands_
    Waits waits = Waits::kNo;
    std::size_t inbox = 0;  // for kValue: the inbox that lacks the value
    Item item;              // for kValue: the item of that value
    Await await;            // for kAverage: the op that waits
  };
  // Programs that depend on each other, directly or through others. All fields are indices into
  // programs_.
  struct Island {
    std::vector<std::size_t> members;
    std::vector<std::size_t> now;   // programs with a turn left in this step, in reverse order
    std::vector<std::size_t> next;  // programs with a turn in the next step
  };
  // A value or gradient of one item that was made for one replica of one stage. Replicas that share
  // items hand it over in parts.
  struct Arrived {
    Item item;
    int parts;  // parts made so far
  };
  // An averaging that replicas of a stage have begun.
  struct BegunAveraging {
    WeightVersion update;
    int members;  // replicas that have begun it
    int left;     // replicas that have not passed its Await
  };

  void find_islands(bool asynchronous);
  [[nodiscard]] std::size_t program_of(WorkerId worker) const;
  bool advance(std::size_t island);
  bool try_take_inputs(std::size_t p, const Op& op);
  void place(std::size_t p, const Op& op);
  void hand_over(std::size_t p, const Op& op, const Work& work);
  void wake(std::size_t p);
  int checked_replica(std::size_t p, StageId stage, const Op& op) const;
  [[nodiscard]] std::size_t inbox(std::size_t transfer, Kind kind, int replica) const {
    return first_inbox_[transfer * 2 + (kind == Kind::kGradient ? 1 : 0)] +
           static_cast<std::size_t>(replica);
  }
  // Returns in how many parts `replica` of the taking stage gets an item's value or gradient.
  [[nodiscard]] int parts_wanted(const graph::Transfer& transfer, Kind kind, int replica) const;
  [[nodiscard]] std::string awaited_by(const ProgramState& program) const;
  [[noreturn]] void refuse_unfinished(const Island& island) const;

  const Routes& routes_;
  std::vector<ProgramState> programs_;
  std::vector<std::size_t> by_worker_;  // index into programs_
  std::vector<Island> islands_;
  std::vector<std::size_t> first_inbox_;  // inbox of replica 0, by transfer and kind
  std::vector<Fifo<Arrived>> inboxes_;    // by transfer, kind and replica of the taking stage
  std::vector<Fifo<BegunAveraging>> averaging_;  // by stage
};

// The complete program of one worker, one op at a time. For a worker that knows the whole schedule
// and shares no memory with other workers. Keeps references to its arguments. Owned and used by one
// thread.
class OwnProgram {
 public:
  OwnProgram(const Schedule& schedule, const Routes& routes, WorkerId worker);

  // Returns the op that stands `ahead` places after the next op. Returns nullptr if the program
  // ends before it, or if the worker has no program. Throws what Lowering::peek() throws.
  [[nodiscard]] const Op* peek(std::size_t ahead = 0) {
    if (!program_) return nullptr;
    const Op* op = lowering_.peek(*program_, ahead);
    lowering_.drop_others(*program_);
    return op;
  }
  void pop() { lowering_.pop(*program_); }

 private:
  Lowering lowering_;
  std::optional<std::size_t> program_;
};

// Returns the complete programs of a schedule, in the order of its generators. Throws what Routes
// and Lowering throw.
[[nodiscard]] std::vector<Program> lower(const Schedule& schedule, const plan::Plan& plan,
                                         const graph::Graph& graph);

}  // namespace pipedream::schedule
