#include "plan/by_machine.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pipedream::plan {
namespace {

constexpr int kBisections = 14;

// Finds stages that take at most a given time, placed inside machines or on whole machines.
class Filling {
 public:
  explicit Filling(const Predictor& predictor)
      : cuts_(predictor.cuts()),
        network_(predictor.links()),
        workers_(predictor.links().workers()),
        machine_(predictor.links().inside(1)),
        inside_(predictor.links().level(0).bandwidth.bytes_per_second),
        between_(std::numeric_limits<double>::infinity()),
        speed_(predictor.weakest_of_all().speed) {
    for (std::size_t k = 1; k < predictor.links().levels(); ++k)
      between_ = std::min(between_, predictor.links().level(k).bandwidth.bytes_per_second);
  }

  // Returns stages that take at most `time` per minibatch, with the fewest workers; no stages if
  // the cluster has too few workers.
  [[nodiscard]] Draft within(double time) const {
    // All three are indexed by cut. `used` is the fewest workers for the layers before the cut, or
    // workers_ + 1 if no stages end there yet. `from` is the cut, and `begin` the worker, at which
    // the stage that ends at the cut begins.
    std::vector<int> used(cuts_.count(), workers_ + 1);
    std::vector<std::size_t> from(cuts_.count(), 0);
    std::vector<int> begin(cuts_.count(), 0);
    used[0] = 0;
    for (std::size_t a = 0; a < cuts_.last(); ++a) {
      if (used[a] >= workers_) continue;
      for (std::size_t b = a + 1; b < cuts_.count(); ++b) {
        if (!cuts_.precedes(a, b)) continue;
        const double least = workers_to_compute(a, b, time);
        if (least > workers_) {
          if (cuts_.in_line()) break;  // longer stages need even more workers
          continue;
        }
        const auto [start, end] = place(a, b, used[a], static_cast<int>(least), time);
        if (end > workers_ || end >= used[b]) continue;
        used[b] = end;
        from[b] = a;
        begin[b] = start;
      }
    }
    Draft draft;
    if (used[cuts_.last()] > workers_) return draft;
    int end = workers_;  // a stage also gets the free workers up to the next stage's first
    for (std::size_t cut = cuts_.last(); cut != 0; cut = from[cut]) {
      draft.stages.insert(draft.stages.begin(), {cut, end - begin[cut]});
      end = begin[cut];
    }
    return draft;
  }

 private:
  // Returns the fewest replicas whose compute, with the processor time of averaging, takes at most
  // `time` per minibatch. May be too large for an int.
  [[nodiscard]] double workers_to_compute(std::size_t a, std::size_t b, double time) const {
    const double alone = std::ceil(cuts_.compute(a, b) / speed_ / time);
    const double busy = cuts_.compute(a, b) + cuts_.averaging(a, b);
    return std::max(1.0, alone <= 1 ? alone : std::ceil(busy / speed_ / time));
  }

  // Returns the first worker of the stage and the worker behind its last, if earlier stages take
  // the first `used` workers and the stage needs at least `least` replicas. The second number is
  // beyond the last worker if there is no place for the stage.
  [[nodiscard]] std::pair<int, int> place(std::size_t a, std::size_t b, int used, int least,
                                          double time) const {
    const double weights = cuts_.weights(a, b) / cuts_.accumulate();  // averaged per round
    const double bytes = cuts_.crossing(a);
    const int room = machine_ - used % machine_;
    const int next = (used + machine_ - 1) / machine_ * machine_;
    const bool continues = used % machine_ != 0 && least <= room;
    for (int r = least; continues && r <= room; ++r)
      if (averaging(weights, r, inside_) <= time && bytes / inside_ <= time)
        return {used, used + r};
    for (int r = least; r <= machine_; ++r)
      if (averaging(weights, r, inside_) <= time && bytes / between_ <= time)
        return {next, next + r};
    for (int r = (std::max(least, machine_ + 1) + machine_ - 1) / machine_ * machine_;
         r <= workers_; r += machine_)
      if (averaging_on_machines(weights, r) <= time && bytes / between_ * machine_ / r <= time)
        return {next, next + r};
    return {workers_, workers_ + 1};
  }

  // Returns the seconds per minibatch of averaging over `m` replicas whose links have `bandwidth`.
  [[nodiscard]] static double averaging(double weights, int m, double bandwidth) {
    return cost::exchange_share(m) * weights / bandwidth / m;
  }

  // Returns the seconds per minibatch of averaging over `m` replicas that fill several machines.
  [[nodiscard]] double averaging_on_machines(double weights, int m) const {
    if (network_.hosts().empty() || machine_ < 2) return averaging(weights, m, between_);
    return cost::two_rings_per_byte(network_, machine_, m / machine_).count() * weights / m;
  }

  const Cuts& cuts_;
  const cost::Links& network_;
  int workers_;
  int machine_;     // workers of one machine
  double inside_;   // bytes per second inside a machine
  double between_;  // bytes per second between machines, on the slowest level
  double speed_;
};

}  // namespace

std::vector<Draft> drafts_by_machine(const Predictor& predictor, double fastest, double slowest) {
  std::vector<Draft> found;
  if (predictor.links().levels() < 2) return found;
  const Filling filling(predictor);
  for (int i = 0; i < kBisections && fastest < slowest; ++i) {
    const double middle = (fastest + slowest) / 2;
    Draft draft = filling.within(middle);
    (draft.stages.empty() ? fastest : slowest) = middle;
    if (!draft.stages.empty()) found.push_back(std::move(draft));
  }
  return found;
}

}  // namespace pipedream::plan
