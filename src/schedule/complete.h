// Completes programs with loads, sends and receives, each program by itself. For interpreters whose
// sends never block, such as the simulator (docs/simulator.md).
#pragma once

#include "core/fifo.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// Completes the programs piece by piece. Loads and receives stand right before the op that takes
// them, sends right after the op that makes the value. If sends blocked until they were received,
// such programs could wait for each other for ever; two stages with two minibatches already do.
// Real runs therefore use Lowering (schedule/lower.h).
//
// Keeps references to its arguments. Owned and used by one thread. Requires a schedule that
// Lowering completes without an exception.
class Complete final : public OpSource {
 public:
  Complete(const Schedule& schedule, const Routes& routes);

  [[nodiscard]] std::size_t programs() const override { return programs_.size(); }
  [[nodiscard]] WorkerId worker(std::size_t program) const override {
    return programs_[program].generator->worker;
  }
  [[nodiscard]] const Op* peek(std::size_t program, std::size_t ahead = 0) override {
    ProgramState& of = programs_[program];
    while (of.out.size() <= ahead && of.piece < of.generator->pieces) produce(of);
    return of.out.size() > ahead ? &of.out[ahead] : nullptr;
  }
  void pop(std::size_t program) override { programs_[program].out.pop(); }

 private:
  struct ProgramState {
    const Generator* generator;
    std::int64_t piece = 0;  // the next piece to produce
    Fifo<Op> out;            // produced and not popped
  };
  void produce(ProgramState& program);
  void add_transfers(ProgramState& program, StageId stage, Item item, Kind kind, bool made);

  const Routes& routes_;
  std::vector<ProgramState> programs_;
  std::vector<Op> scratch_;
};

}  // namespace pipedream::schedule
