#include "schedule/complete.h"

namespace pipedream::schedule {

Complete::Complete(const Schedule& schedule, const Routes& routes) : routes_(routes) {
  for (const Generator& generator : schedule.generators) programs_.push_back({&generator, 0, {}});
}

void Complete::produce(ProgramState& program) {
  scratch_.clear();
  program.generator->append(program.piece++, scratch_);
  for (const Op& op : scratch_) {
    const auto work = work_of(op);
    // On a stage that recomputes, the gradients of a backward are received before its
    // recomputation.
    const bool received = std::holds_alternative<Backward>(op) && work->takes &&
                          routes_.plan().stage(work->stage).recompute;
    if (work && work->takes && !received)
      add_transfers(program, work->stage, work->item, work->kind, false);
    if (const auto* f = std::get_if<Forward>(&op); f != nullptr && routes_.loads(f->stage))
      program.out.push(Load{f->stage, f->item});
    program.out.push(op);
    if (work && work->makes) add_transfers(program, work->stage, work->item, work->kind, true);
  }
}

void Complete::add_transfers(ProgramState& program, StageId stage, Item item, Kind kind,
                             bool made) {
  const WorkerId worker = program.generator->worker;
  const int replica = *routes_.replica(stage, worker);
  for (const std::size_t t : made ? routes_.made(stage, kind) : routes_.taken(stage, kind)) {
    const graph::Transfer& transfer = routes_.transfers()[t];
    const StageId other = transfer.from == stage ? transfer.to : transfer.from;
    routes_.for_each_peer(stage, replica, other, item.minibatch, [&](int index, double) {
      const WorkerId peer = routes_.worker(other, index);
      if (peer == worker) return;  // between two stages of one worker nothing is sent
      if (made)
        program.out.push(Send{transfer.value, transfer.to, item, kind, peer});
      else
        program.out.push(Recv{transfer.value, transfer.to, item, kind, peer});
    });
  }
}

}  // namespace pipedream::schedule
