// The search behind the planners that look at whole plans: candidates are offered, improved by
// small steps, and then all plans of a space are gone through as far as a budget allows, leaving
// out what a bound says cannot be better. If the budget suffices the best is proved.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/placement.h"
#include "plan/planner.h"
#include "plan/relaxation.h"

namespace pipedream::plan {

// Stages placed one after the other, on `copies` equal parts of the cluster: all of it, or each of
// so many blocks of workers, which then run the same pipeline side by side.
struct Draft {
  struct Stage {
    std::size_t end;
    int replicas;  // in each copy
    Placement placement = Placement::kInOrder;
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  int copies = 1;
  std::vector<Stage> stages;
  friend bool operator==(const Draft&, const Draft&) = default;
};

// The layout that a draft describes. A minibatch stays in one copy.
[[nodiscard]] Layout place(const Draft& draft, const cost::Links& links);

// Which drafts there are.
struct Space {
  std::vector<int> copies{1};                              // divisors of the number of workers
  std::vector<Placement> placements{Placement::kInOrder};  // that each stage may have
  bool straight = false;                                   // one replica per stage
};

class Search {
 public:
  // Work for `budget` predictions on a small cluster; those for a large one count for more.
  Search(const Predictor& predictor, const Relaxation& relaxation, Space space,
         std::int64_t budget);

  void offer(const Draft& draft);
  // A layout from elsewhere, which need not be one of the space.
  void offer(const Layout& layout);
  // From the best drafts offered in steps that make them better, until there is none: a cut moves,
  // a worker changes stage, stages merge or split.
  void climb();
  // Through the whole space.
  void exhaust();

  // The best that was offered or found, with its bound.
  [[nodiscard]] Outcome outcome() const;
  // The best that fit, the best first: at most kFew.
  static constexpr int kFew = 8;
  [[nodiscard]] std::vector<Answer> best_few() const;

 private:
  struct Candidate {
    Layout layout;
    Prediction prediction;
  };
  // Of equal rank the one with fewer stages comes first.
  using Order = std::pair<Rank, std::size_t>;
  [[nodiscard]] static Order order(const Prediction& prediction);
  struct Start {
    Order order;
    Draft draft;
  };
  const Prediction& take(Layout layout);
  void note_good(const Layout& layout);  // with last_, its prediction
  [[nodiscard]] std::vector<Draft> neighbours(const Draft& draft) const;
  void add_moved_cuts(const Draft& draft, std::vector<Draft>& into) const;
  void add_moved_workers(const Draft& draft, std::vector<Draft>& into) const;
  void add_merged(const Draft& draft, std::vector<Draft>& into) const;
  void add_split(const Draft& draft, std::vector<Draft>& into) const;
  [[nodiscard]] bool is_draft(const Draft& draft) const;
  void extend(Draft& draft, int left, double at_least);
  [[nodiscard]] bool hopeless(double at_least, std::size_t stages) const;
  [[nodiscard]] bool spent() const { return budget_ <= 0; }

  const Predictor& predictor_;
  const Relaxation& relaxation_;
  Space space_;
  std::int64_t budget_;
  std::int64_t price_;  // of one prediction
  bool complete_ = false;
  bool missed_ = false;  // some plan did not fit its memory
  std::optional<Candidate> best_;
  std::vector<Candidate> good_;  // the best few that fit
  std::vector<Start> starts_;    // the best drafts offered, the best first
  Prediction last_;              // what take() returns
};

}  // namespace pipedream::plan
