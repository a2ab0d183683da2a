// Lowering: from the order of compute to complete programs. Adds the loads, and for every value
// that crosses workers a Send and a Recv of its activation and of its gradient.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/fifo.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// Produces the complete programs of a schedule, piece by piece, as they are asked for. Keeps
// references to its arguments; owned and used by one thread.
//
// All compute ops, loads and transfers get a place in one order: the programs take turns of one op,
// each op as soon as what it takes is made, and a transfer comes right after the op that makes its
// value. Every program is a subsequence of that order, which does not depend on who asks for what.
// So nothing deadlocks even if every send blocks until it is received: the first unfinished entry
// of the order stands at the head of all programs it concerns. (Workers that exchange nothing at
// all have orders of their own, so that one may run ahead of the other.)
//
// Memory: what was produced for one program on the way to another's next op; for programs that are
// asked about as they would run, about what is in flight between them.
class Lowering final : public OpSource {
 public:
  // Throws BadValue when a worker has two programs.
  Lowering(const Schedule& schedule, const Routes& routes);

  [[nodiscard]] std::size_t programs() const override { return programs_.size(); }
  [[nodiscard]] WorkerId worker(std::size_t program) const override {
    return programs_[program].worker;
  }

  // Throws BadValue when the programs wait for each other in a cycle or for an op that no program
  // has, or when one runs an op that the plan gives to another.
  [[nodiscard]] const Op* peek(std::size_t program, std::size_t ahead = 0) override {
    Program& of = programs_[program];
    while (of.out.size() <= ahead)
      if (!advance(of.island)) return nullptr;
    return &of.out[ahead];
  }
  void pop(std::size_t program) override { programs_[program].out.pop(); }
  // Lets go of what was produced for all programs but this one.
  void drop_others(std::size_t program) {
    for (std::size_t p = 0; p < programs_.size(); ++p)
      if (p != program) programs_[p].out.clear();
  }

 private:
  enum class Waits { kNo, kValue, kAverage };
  struct Program {
    WorkerId worker;
    const Generator* generator;
    std::int64_t piece = 0;   // the next to produce
    Fifo<Op> in;              // produced and not placed
    Fifo<Op> out;             // placed and not popped
    std::int64_t placed = 0;  // ops of the generator so far
    std::size_t island = 0;
    Waits waits = Waits::kNo;
    std::size_t inbox = 0;  // of the value it waits for
    Item item;              // of that value
    Await await;            // what else it waits for
  };
  // Programs that depend on each other, those whose turn it is in this step and in the next.
  struct Island {
    std::vector<std::size_t> members;
    std::vector<std::size_t> now;
    std::vector<std::size_t> next;
  };
  // Values on their way to one replica of one stage.
  struct Arrived {
    Item item;
    int parts;  // that are there
  };
  struct Averaging {
    WeightVersion update;
    int members;  // that take part already
    int left;     // that have not gone on
  };

  void find_islands(bool asynchronous);
  [[nodiscard]] std::size_t program_of(WorkerId worker) const;
  bool advance(std::size_t island);
  bool is_ready(std::size_t p, const Op& op);
  void place(std::size_t p, const Op& op);
  void hand_over(std::size_t p, const Op& op, const Work& work);
  void wake(std::size_t p);
  int checked_replica(std::size_t p, StageId stage, const Op& op) const;
  [[nodiscard]] std::size_t inbox(std::size_t transfer, Kind kind, int replica) const {
    return first_inbox_[transfer * 2 + (kind == Kind::kGradient ? 1 : 0)] +
           static_cast<std::size_t>(replica);
  }
  [[nodiscard]] int parts_wanted(const graph::Transfer& transfer, Kind kind, int replica) const;
  [[nodiscard]] std::string awaited_by(const Program& program) const;
  [[noreturn]] void refuse_unfinished(const Island& island) const;

  const Routes& routes_;
  std::vector<Program> programs_;
  std::vector<std::size_t> by_worker_;
  std::vector<Island> islands_;
  std::vector<std::size_t> first_inbox_;  // by transfer and kind
  std::vector<Fifo<Arrived>> inboxes_;
  std::vector<Fifo<Averaging>> averaging_;  // by stage
};

// The complete program of one worker, an op at a time: for a worker that knows the whole schedule
// and shares nothing with the others. Keeps references to its arguments.
class OwnProgram {
 public:
  OwnProgram(const Schedule& schedule, const Routes& routes, WorkerId worker);

  // The next op, or one further ahead; nullptr: there is none, or the worker has no program.
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

// All of the complete programs.
[[nodiscard]] std::vector<Program> lower(const Schedule& schedule, const plan::Plan& plan,
                                         const graph::Graph& graph);

}  // namespace pipedream::schedule
