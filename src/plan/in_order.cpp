#include "plan/in_order.h"

#include <algorithm>
#include <limits>

namespace pipedream::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kMostPairs = 1e7;          // pairs of cuts × places
constexpr double kMostStraightPairs = 2e7;  // the same, for all programmes of straight plans
constexpr double kMostPlaceWork = 1e6;      // places × workers: the work to know all places
constexpr double kUnit = 1e9;  // bytes; the time per byte is the time of this many, divided by it

// The dynamic programme of plan/in_order.h.
class OrderProgramme {
 public:
  // Uses the first `most` workers of each copy. `shallow`: memory is checked for one minibatch in
  // flight.
  OrderProgramme(const Predictor& predictor, int copies, bool straight, Sender sender, int most,
                 bool shallow)
      : predictor_(predictor),
        cuts_(predictor.cuts()),
        copies_(copies),
        block_(predictor.links().workers() / copies),
        most_(most),
        shallow_(shallow),
        width_(static_cast<std::size_t>(most) + 1) {
    for (int offset = 0; offset < most; ++offset)
      for (int r = 1; r <= std::min(straight ? 1 : most, most - offset); ++r)
        places_.push_back(place_at(offset, r, sender));
  }

  // Returns the best draft for each number of workers per copy.
  std::vector<Draft> drafts() {
    fill();
    std::vector<Draft> found;
    for (int used = 1; used <= most_; ++used)
      if (at(cuts_.last(), used).value < kNever) found.push_back(draft_ending(used));
    return found;
  }

  // Returns whether some stage did not get its best place because of memory.
  [[nodiscard]] bool is_short_of_memory() const { return short_of_memory_; }

 private:
  // Workers that a stage may have.
  struct Place {
    int offset;               // the first worker in each copy
    int replicas;             // in each copy
    cluster::Device weakest;  // the least speed and memory of these workers
    double exchange;          // seconds of an averaging per byte of weights
    double fixed;             // seconds of an averaging that do not depend on its bytes
    double cut;               // seconds per byte that the stage receives
  };
  // The best plan for the layers before a cut, and the last stage of that plan.
  struct Entry {
    double value = kNever;  // seconds per minibatch
    std::size_t from = 0;   // the cut at which the last stage begins
    int replicas = 0;       // of the last stage, in each copy
  };

  // Returns best(cut, used): for the layers before `cut` on the first `used` workers.
  [[nodiscard]] Entry& at(std::size_t cut, int used) {
    return entries_[cut * width_ + static_cast<std::size_t>(used)];
  }

  [[nodiscard]] Place place_at(int offset, int r, Sender sender) const {
    const std::vector<WorkerId> here = workers_in_order(offset, r, copies_, block_);
    Place place{offset, r, predictor_.weakest(here), 0, 0, 0};
    const cost::Links& links = predictor_.links();
    const cost::Exchange pattern = predictor_.setting().exchange;
    place.fixed = cost::exchange_time(links, here, 0, pattern).count();
    place.exchange =
        (cost::exchange_time(links, here, kUnit, pattern).count() - place.fixed) / kUnit;
    const int senders = sender == Sender::kOneWorker ? 1 : r;
    if (offset >= senders) {
      cost::LinkLoads loads(links);
      (void)loads.add_transfer(workers_in_order(offset - senders, senders, copies_, block_), here,
                               kUnit);
      place.cut = loads.busiest().time.count() / kUnit;
    }
    return place;
  }

  void fill() {
    entries_.assign(cuts_.count() * width_, {});
    at(0, 0).value = 0;
    for (std::size_t a = 0; a < cuts_.last(); ++a)
      for (std::size_t b = a + 1; b < cuts_.count(); ++b) {
        if (!cuts_.precedes(a, b)) continue;
        const double compute = cuts_.compute(a, b);
        const int rounds = cuts_.accumulate();  // of an update
        const double averaging = cuts_.averaging(a, b);
        const double weights = cuts_.weights(a, b);
        const cost::StageSize size = cuts_.size(a, b);
        for (const Place& place : places_) {
          const double before = at(a, place.offset).value;
          Entry& entry = at(b, place.offset + place.replicas);
          if (before >= entry.value) continue;
          const double in_all = place.replicas * copies_;
          const double busy = compute + (in_all > 1 ? averaging : 0);
          const double value =
              std::max({before, busy / place.weakest.speed / in_all,
                        (weights * place.exchange + place.fixed) / (in_all * rounds),
                        cuts_.crossing(a) * place.cut});
          if (value >= entry.value) continue;
          if (fits(size, place))
            entry = {value, a, place.replicas};
          else
            short_of_memory_ = true;
        }
      }
  }

  // Returns whether a stage fits the memory at `place`. Counts minibatches in flight as if all
  // later workers were in use, or one if the pipeline may be shallow. Only checks systems that
  // stash weights; others always fit here.
  [[nodiscard]] bool fits(const cost::StageSize& size, const Place& place) const {
    if (predictor_.traits().versions != cost::WeightVersions::kStashed) return true;
    const int behind = most_ - place.offset - place.replicas;
    const int total = place.replicas * copies_;
    const int depth = shallow_ ? 1 : cost::noam(behind, place.replicas);
    const auto counts =
        cost::peak_counts(predictor_.traits(), depth, total, {1, cuts_.accumulate()});
    return cost::stage_memory(size, counts, {predictor_.setting().optimiser_copies, 1, false})
               .total() <= place.weakest.memory;
  }

  [[nodiscard]] Draft draft_ending(int used) {
    Draft draft{copies_, {}};
    for (std::size_t cut = cuts_.last(); cut != 0;) {
      const Entry& entry = at(cut, used);
      draft.stages.insert(draft.stages.begin(), {cut, entry.replicas});
      cut = entry.from;
      used -= entry.replicas;
    }
    return draft;
  }

  const Predictor& predictor_;
  const Cuts& cuts_;
  int copies_;
  int block_;
  int most_;
  bool shallow_;
  std::size_t width_;
  bool short_of_memory_ = false;
  std::vector<Place> places_;
  std::vector<Entry> entries_;
};

}  // namespace

std::vector<Draft> drafts_in_order(const Predictor& predictor, int copies, bool straight,
                                   Sender sender) {
  std::vector<Draft> found;
  const auto cuts = static_cast<double>(predictor.cuts().count());
  const int block = predictor.links().workers() / copies;
  const double places = block * (straight ? 1 : block / 2.0);
  const double pairs = cuts * cuts / 2 * places;
  if (pairs > kMostPairs) return found;
  if (places * predictor.links().workers() > kMostPlaceWork) return found;
  const auto add = [&](int most, bool shallow) {
    OrderProgramme programme(predictor, copies, straight, sender, most, shallow);
    for (Draft& draft : programme.drafts()) found.push_back(std::move(draft));
    return programme.is_short_of_memory();
  };
  // Shorter pipelines have fewer minibatches in flight. So if memory is short, pipelines on fewer
  // workers are tried too, and shallow ones, whose stages are not all kept busy.
  const int tries =
      straight ? static_cast<int>(std::clamp(kMostStraightPairs / pairs, 2.0, 16.0)) : 4;
  const int step = (block + tries - 1) / tries;
  bool is_short = true;
  for (int most = block; most > 0 && is_short; most -= step) {
    is_short = add(most, false);
    if (is_short && most == block) (void)add(most, true);
  }
  return found;
}

}  // namespace pipedream::plan
