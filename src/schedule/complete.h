// Complete programs without a common order: for interpreters whose sends never block.
#pragma once

#include "core/fifo.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// Adds to each program by itself, piece by piece, what lowering adds: loads and receives right
// before the op that takes them, sends right after the op that makes them. If sends blocked until
// they are received, such programs would wait for each other (two stages with two minibatches do
// already); for those that really run there is lower.h. Keeps references to its arguments; owned
// and used by one thread. Requires a schedule that lowers without complaint.
class Complete final : public OpSource {
 public:
  Complete(const Schedule& schedule, const Routes& routes);

  [[nodiscard]] std::size_t programs() const override { return programs_.size(); }
  [[nodiscard]] WorkerId worker(std::size_t program) const override {
    return programs_[program].generator->worker;
  }
  [[nodiscard]] const Op* peek(std::size_t program, std::size_t ahead = 0) override {
    Program& of = programs_[program];
    while (of.out.size() <= ahead && of.piece < of.generator->pieces) produce(of);
    return of.out.size() > ahead ? &of.out[ahead] : nullptr;
  }
  void pop(std::size_t program) override { programs_[program].out.pop(); }

 private:
  struct Program {
    const Generator* generator;
    std::int64_t piece = 0;  // the next to produce
    Fifo<Op> out;
  };
  void produce(Program& program);
  void add_transfers(Program& program, StageId stage, Item item, Kind kind, bool made);

  const Routes& routes_;
  std::vector<Program> programs_;
  std::vector<Op> scratch_;
};

}  // namespace pipedream::schedule
