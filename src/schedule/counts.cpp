#include "schedule/counts.h"

#include "core/match.h"

namespace pipedream::schedule {

void count(const Op& op, Counter& counter) {
  if (const auto* forward = std::get_if<Forward>(&op)) counter.forward(forward->weights);
  const auto* backward = std::get_if<Backward>(&op);
  if (backward != nullptr && backward->part != Part::kInput) counter.backward(backward->weights);
}

void WorkerCounter::add(const Op& op) {
  std::visit(Match{[&](const Forward& f) { count(op, of(f.stage)); },
                   [&](const Backward& b) { count(op, of(b.stage)); },
                   [&](const Reduce& r) { of(r.stage).reduce(); },
                   [&](const Update& u) { of(u.stage).update(u.to); },
                   [&](const Push& p) { of(p.stage).push(); },
                   [&](const Pull& p) { of(p.stage).fetch(p.to); }, [](const auto&) {}},
             op);
}

}  // namespace pipedream::schedule
