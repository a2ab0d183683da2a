// Counts what one worker keeps for each of its stages (schedule/counts.h), given its whole program.
// Only tests and their *_testing.h headers include this.
#pragma once

#include "core/match.h"
#include "schedule/counts.h"

namespace pipedream::schedule {

class WorkerCounter {
 public:
  explicit WorkerCounter(const Rules& rules) : rules_(rules) {}

  // Counts the next op of the program.
  void add(const Op& op) {
    std::visit(Match{[&](const Forward& f) { count(op, of(f.stage)); },
                     [&](const Backward& b) { count(op, of(b.stage)); },
                     [&](const Reduce& r) { of(r.stage).reduce(); },
                     [&](const Update& u) { of(u.stage).update(u.to); },
                     [&](const Push& p) { of(p.stage).push(); },
                     [&](const Pull& p) { of(p.stage).fetch(p.to); }, [](const auto&) {}},
               op);
  }
  struct OfStage {
    StageId stage;
    Counter counter;
  };
  [[nodiscard]] const std::vector<OfStage>& stages() const { return stages_; }

 private:
  Counter& of(StageId stage) {
    for (OfStage& each : stages_)
      if (each.stage == stage) return each.counter;
    stages_.push_back({stage, Counter(rules_)});
    return stages_.back().counter;
  }

  Rules rules_;
  std::vector<OfStage> stages_;
};

}  // namespace pipedream::schedule
