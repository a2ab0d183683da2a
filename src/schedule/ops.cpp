#include "schedule/ops.h"

#include "core/match.h"

namespace pipedream::schedule {
namespace {

std::string text(Item item) {
  std::string out = std::to_string(item.minibatch);
  return item.microbatch == 0 ? out : out + "." + std::to_string(item.microbatch);
}

std::string text(WeightVersion version) { return "@" + std::to_string(version.value); }

char letter(BackwardPart part) {
  return part == BackwardPart::kFull ? 'B' : part == BackwardPart::kInput ? 'b' : 'w';
}

std::string transfer(char end, char arrow, ValueId value, Item item, Kind kind, WorkerId peer) {
  return std::string{end} + (kind == Kind::kActivation ? 'A' : 'G') + std::to_string(value.value) +
         "#" + text(item) + arrow + std::to_string(peer.value);
}

}  // namespace

std::optional<Work> work_of(const Op& op) {
  if (const auto* f = std::get_if<Forward>(&op)) return Work{f->stage, f->item};
  if (const auto* c = std::get_if<Recompute>(&op))
    return Work{c->stage, c->item, Kind::kGradient, true, false};
  if (const auto* b = std::get_if<Backward>(&op)) {
    const bool crosses = b->part != BackwardPart::kWeight;
    return Work{b->stage, b->item, Kind::kGradient, crosses, crosses};
  }
  return std::nullopt;
}

std::optional<std::int64_t> minibatch_of(const Op& op) {
  using Minibatch = std::optional<std::int64_t>;
  return std::visit(
      Match{[](const Update& u) { return Minibatch(u.last); },
            [](const Reduce&) { return Minibatch(); }, [](const Await&) { return Minibatch(); },
            [](const Pull&) { return Minibatch(); },
            [](const auto& other) { return Minibatch(other.item.minibatch); }},
      op);
}

std::string to_text(const Op& op, bool with_stage) {
  const auto stage = [&](StageId id) {
    return with_stage ? std::to_string(id.value) + ":" : std::string();
  };
  return std::visit(
      Match{
          [&](const Load& l) { return stage(l.stage) + "L" + text(l.item); },
          [&](const Forward& f) { return stage(f.stage) + "F" + text(f.item) + text(f.weights); },
          [&](const Recompute& c) { return stage(c.stage) + "C" + text(c.item) + text(c.weights); },
          [&](const Backward& b) {
            return stage(b.stage) + letter(b.part) + text(b.item) + text(b.weights);
          },
          [&](const Send& s) { return transfer('S', '>', s.value, s.item, s.kind, s.peer); },
          [&](const Recv& r) { return transfer('R', '<', r.value, r.item, r.kind, r.peer); },
          [&](const Reduce& r) { return stage(r.stage) + "X" + std::to_string(r.update.value); },
          [&](const Await& a) { return stage(a.stage) + "A" + std::to_string(a.update.value); },
          [&](const Push& p) { return stage(p.stage) + "P" + text(p.item); },
          [&](const Pull& p) { return stage(p.stage) + "G" + std::to_string(p.to.value); },
          [&](const Update& u) {
            return stage(u.stage) + "U" + std::to_string(u.from.value) + ">" +
                   std::to_string(u.to.value);
          }},
      op);
}

std::string to_text(const Program& program, bool with_stage) {
  std::string out;
  for (const Op& op : program.ops) out += (out.empty() ? "" : " ") + to_text(op, with_stage);
  return out;
}

}  // namespace pipedream::schedule
