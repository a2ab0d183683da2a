// The search of the planners that compare whole plans (docs/planner.md#the-planners). It takes
// candidates, improves them by small steps, and then goes through all plans of a space as far as a
// budget allows, leaving out those that cannot be better by a bound. If the budget suffices, the
// result is proved to be the best of the space.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/kept.h"
#include "plan/placement.h"
#include "plan/planner.h"
#include "plan/relaxation.h"

namespace pipedream::plan {

// A layout before its stages are placed on workers. The cluster is divided into `copies` equal
// blocks of workers, which run the same pipeline side by side. In each block, the stages are placed
// one after the other.
struct Draft {
  struct Stage {
    std::size_t end;  // the cut at which the stage ends
    int replicas;     // in each copy
    Placement placement = Placement::kInOrder;
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  int copies = 1;
  std::vector<Stage> stages;
  friend bool operator==(const Draft&, const Draft&) = default;
};

// Returns the layout of a draft. A minibatch passes all stages in the same copy. Requires that
// either all stages are placed kInOrder or none, and kInOrder for several copies.
[[nodiscard]] Layout place(const Draft& draft, const cost::Links& links);

// The drafts that a search may consider.
struct Space {
  std::vector<int> copies{1};  // divisors of the number of workers
  // The placements that each stage may have.
  std::vector<Placement> placements{Placement::kInOrder};
  bool straight = false;  // plans have one worker per stage
};

// Besides the search of all plans, a planner searches those without replicas, of which the first
// may find too few, with this part of its budget.
inline constexpr std::int64_t kStraightPart = 5;

// One search. The planner calls offer() with its candidates, then climb(), exhaust() and polish(),
// then candidates(). Keeps references to `predictor` and `relaxation`. For use by one thread.
class Search {
 public:
  // `budget` limits the work, counted in predictions on a small cluster. On more than 64 workers,
  // one prediction counts as workers / 64 of them.
  Search(const Predictor& predictor, const Relaxation& relaxation, Space space,
         std::int64_t budget);

  // Considers a draft, at no cost to the budget. Ignores a draft that is not valid for the network
  // and the cluster, or has replicas in a straight space.
  void offer(const Draft& draft);
  // Considers a layout, which need not be in the space.
  void offer(const Layout& layout);
  // Improves the best drafts offered, each by steps that make it better until none does: a cut
  // moves, a worker changes its stage, stages merge, split or are placed in another way. Spends at
  // most half of the budget.
  void climb();
  // Goes through the whole space until the budget is spent.
  void exhaust();
  // Improves the best draft found as climb() does, with a small budget of its own.
  void polish();

  // Returns the best plan that was offered or found and others of different forms (plan/kept.h),
  // with the bound on the best; a refusal if no plan fits the memory. Requires that something was
  // offered or found.
  [[nodiscard]] Candidates candidates() const;

 private:
  struct Start {  // a draft to climb from
    Order order;
    Draft draft;
  };
  // Predicts `layout`, subtracts the price from the budget, and keeps the layout if it is among the
  // best. Returns last_, which is valid until the next call.
  const Prediction& take(Layout layout);
  // Does the same for the layout of `draft`, and remembers the draft if it is the best.
  const Prediction& take(const Draft& draft);
  // Improves `start` by steps until none makes it better, or the budget is down to `reserve`.
  void climb_from(Start start, std::int64_t reserve);
  [[nodiscard]] std::vector<Draft> neighbours(const Draft& draft) const;
  void add_moved_cuts(const Draft& draft, std::vector<Draft>& into) const;
  void add_moved_workers(const Draft& draft, std::vector<Draft>& into) const;
  void add_merged(const Draft& draft, std::vector<Draft>& into) const;
  void add_split(const Draft& draft, std::vector<Draft>& into) const;
  void add_placed(const Draft& draft, std::vector<Draft>& into) const;
  [[nodiscard]] bool is_draft(const Draft& draft) const;
  void extend(Draft& draft, int left, double at_least);
  [[nodiscard]] bool hopeless(double at_least, std::size_t stages) const;
  [[nodiscard]] bool spent() const { return budget_ <= 0; }

  const Predictor& predictor_;
  const Relaxation& relaxation_;
  Space space_;
  std::int64_t budget_;
  std::int64_t price_;     // of one prediction, in the unit of budget_
  bool complete_ = false;  // exhaust() got through the whole space
  bool missed_ = false;    // some plan did not fit the memory
  std::optional<Answer> best_;
  std::optional<Start> best_draft_;  // the best draft, which need not be best_
  Kept kept_;                        // plans that fit
  std::vector<Start> starts_;        // the best drafts offered, the best first
  Prediction last_;                  // the prediction that take() made last
};

}  // namespace pipedream::plan
