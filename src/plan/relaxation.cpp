#include "plan/relaxation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pipedream::plan {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kMostTableWork = 2e7;        // steps to fill the table
constexpr int kHalvings = 50;                 // of a bisection, at most
constexpr double kCloseEnough = 1e-5;         // where a bisection ends, relative to the bound
constexpr double kBelowRounding = 1 - 1e-12;  // a prediction may round sums differently

// Returns a lower bound on averaging over m workers, in seconds per byte of weights and minibatch.
// In a ring of one level, some link of a level that joins m workers carries 2(m−1)/m bytes per
// round of m minibatches. Other patterns may use all levels at once.
double exchange_per_byte(const cost::Links& links, cost::Exchange pattern, int m) {
  double best = 0;
  for (std::size_t k = 0; k < links.levels(); ++k) {
    const double bandwidth = links.level(k).bandwidth.bytes_per_second;
    const int joined = links.inside(k) * links.level(k).count;
    if (pattern != cost::Exchange::kRing)
      best += bandwidth;
    else if (joined >= m)
      best = std::max(best, bandwidth);
  }
  return cost::exchange_share(m) / best / m;
}

// Returns for every m, at index m − 1, the lower bound of exchange_per_byte(), lowered if a ring of
// two levels is faster.
std::vector<double> exchanges_per_byte(const cost::Links& links, cost::Exchange pattern) {
  std::vector<double> all;
  for (int m = 1; m <= links.workers(); ++m) all.push_back(exchange_per_byte(links, pattern, m));
  if (pattern != cost::Exchange::kRing || links.hosts().empty()) return all;
  for (int g = 2; g <= links.level(0).count; ++g)
    for (int h = 2; h <= links.level(1).count; ++h) {
      double& known = all[static_cast<std::size_t>(g * h - 1)];
      known = std::min(known, cost::two_rings_per_byte(links, g, h).count() / (g * h));
    }
  return all;
}

}  // namespace

Relaxation::Relaxation(const Predictor& predictor, bool straight)
    : cuts_(predictor.cuts()),
      workers_(predictor.links().workers()),
      straight_(straight),
      speed_(0),
      largest_item_(predictor.traits().shares_items() ? workers_ : 1) {
  for (const cluster::Device& device : predictor.cluster().devices)
    speed_ = std::max(speed_, device.speed);
  for (std::size_t cut = 0; cut < cuts_.count(); ++cut) time_.push_back(compute(0, cut));
  if (!predictor.traits().flushes)  // then averaging overlaps compute
    exchange_ = exchanges_per_byte(predictor.links(), predictor.setting().exchange);
  else
    exchange_.resize(static_cast<std::size_t>(workers_));
  for (double& exchange : exchange_) exchange /= predictor.accumulate();
  int first = 2;
  for (std::size_t k = 0; k < predictor.links().levels(); ++k) {
    levels_end_.push_back(predictor.links().inside(k) * predictor.links().level(k).count);
    // A ring over m workers may be slower than over m − 1, if only the latter has two levels.
    // Taking the smaller of both keeps the bound, and it then does not grow with m.
    for (int m = first + 1; m <= levels_end_.back(); ++m)
      exchange_[index(m)] = std::min(exchange_[index(m)], exchange_[index(m - 1)]);
    first = std::max(2, levels_end_.back() + 1);
  }
  if (!cuts_.complete()) {
    // The best plan may cut in another order, so only what holds for any partition counts.
    bound_ = time_.back() / workers_ * kBelowRounding;
    return;
  }
  fill_table();
  bound_ = table_.empty() ? bisect(1, &whole_) : rest(0, workers_);
}

// Returns the least time of one minibatch on one worker. It runs in one part or, if replicas share
// items, as a part of an item of many minibatches, which takes the fixed time once for all of them.
double Relaxation::compute(std::size_t a, std::size_t b) const {
  const Seconds fixed(cuts_.fixed_forward(a, b) + cuts_.fixed_backward(a, b));
  return cost::time_in_parts(Seconds(cuts_.compute(a, b)), fixed, largest_item_).count() / speed_;
}

double Relaxation::stage(std::size_t a, std::size_t b, int workers) const {
  const double busy = compute(a, b) + (workers > 1 ? cuts_.averaging(a, b) / speed_ : 0);
  const double alone = busy / workers;
  const double exchange = cuts_.weights(a, b) * exchange_[index(workers)];
  return std::max(alone, exchange) * kBelowRounding;
}

// Returns the smallest multiple of `copies` workers with which stage(a, b, ·) ≤ time; more than
// workers_ if there is none.
int Relaxation::fewest_workers(std::size_t a, std::size_t b, double time, int copies) const {
  // Rounding must not exclude a number of workers that is just enough.
  const auto enough = [&](double busy) { return std::ceil(busy / time * kBelowRounding); };
  const double compute = time_[b] - time_[a];
  const bool is_alone = copies == 1 && enough(compute) <= 1;
  const double wanted = enough(is_alone ? compute : compute + cuts_.averaging(a, b) / speed_);
  if (wanted > workers_) return workers_ + 1;
  const double weights = cuts_.weights(a, b);
  const auto fits = [&](int m) { return weights * exchange_[index(m)] * kBelowRounding <= time; };
  if (straight_) return is_alone ? 1 : workers_ + 1;
  const auto round_up = [&](int m) { return (m + copies - 1) / copies * copies; };
  int least = round_up(std::max(1, static_cast<int>(wanted)));
  // Inside one level, from 2 workers on, exchange_ does not grow; 1 worker always fits.
  for (const int end : levels_end_) {
    if (least <= end && fits(least)) return least;
    int low = 0;
    int high = std::max(0, (end - least) / copies + (least <= end ? 1 : 0));
    while (low < high) {
      const int middle = (low + high) / 2;
      if (fits(least + middle * copies))
        high = middle;
      else
        low = middle + 1;
    }
    if (least + low * copies <= end) return least + low * copies;
    least = std::max(least, round_up(end + 1));
  }
  return workers_ + 1;
}

std::vector<Relaxation::Step> Relaxation::within(double time, int copies) const {
  // By cut: the fewest workers before it (workers_ + 1: not reached yet), and the stage that ends
  // there. In `from`, Step::end is the cut at which that stage begins.
  std::vector<int> used(cuts_.count(), workers_ + 1);
  std::vector<Step> from(cuts_.count(), {0, 0});
  used[0] = 0;
  for (std::size_t a = 0; a < cuts_.last(); ++a) {
    if (used[a] >= workers_) continue;
    for (std::size_t b = a + 1; b < cuts_.count(); ++b) {
      if (!cuts_.precedes(a, b)) continue;
      if (used[a] + (time_[b] - time_[a]) / time > workers_ + 1) {
        if (cuts_.in_line()) break;  // longer stages need even more workers
        continue;
      }
      const int count = fewest_workers(a, b, time, copies);
      if (count > workers_ - used[a] || used[a] + count >= used[b]) continue;
      used[b] = used[a] + count;
      from[b] = {a, count};
    }
  }
  std::vector<Step> steps;
  if (used.back() > workers_) return steps;
  for (std::size_t cut = cuts_.last(); cut != 0; cut = from[cut].end)
    steps.insert(steps.begin(), {cut, from[cut].workers});
  return steps;
}

// Narrows an interval between a time that no solution reaches and a time that one does. Returns the
// lower end, and in `steps` the stages for the upper end; no stages if there are none.
double Relaxation::bisect(int copies, std::vector<Step>* steps) const {
  double low = time_.back() / workers_ * kBelowRounding;
  double high = std::max(stage(0, cuts_.last(), copies), low);
  std::vector<Step> found = within(low, copies);
  if (found.empty()) {
    found = within(high, copies);
    for (int i = 0; i < kHalvings && !found.empty() && low < high * (1 - kCloseEnough); ++i) {
      const double middle = (low + high) / 2;
      std::vector<Step> better = within(middle, copies);
      (better.empty() ? low : high) = middle;
      if (!better.empty()) found = std::move(better);
    }
  }
  if (steps != nullptr) *steps = std::move(found);
  return low;
}

std::vector<Relaxation::Step> Relaxation::solution(int copies) const {
  std::vector<Step> steps = whole_;
  if (copies > 1 || steps.empty()) (void)bisect(copies, &steps);
  if (steps.empty() || straight_) return steps;
  // Gives the workers that are left to the slowest stages.
  int left = workers_;
  for (const Step& step : steps) left -= step.workers;
  for (; left >= copies; left -= copies) {
    std::size_t worst = 0;
    double most = 0;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const double time = stage(s == 0 ? 0 : steps[s - 1].end, steps[s].end, steps[s].workers);
      if (time > most) {
        most = time;
        worst = s;
      }
    }
    steps[worst].workers += copies;
  }
  return steps;
}

// rest(a, w) = min over the first stage (a, b) and its workers m of max(stage, rest(b, w − m)).
void Relaxation::fill_table() {
  const double pairs =
      0.5 * static_cast<double>(cuts_.count()) * static_cast<double>(cuts_.count());
  if (pairs * workers_ * workers_ / 2 > kMostTableWork) return;
  const auto width = static_cast<std::size_t>(workers_);
  table_.assign(cuts_.count() * width, kUnbounded);
  for (std::size_t w = 0; w < width; ++w) table_[cuts_.last() * width + w] = 0;
  for (std::size_t a = cuts_.last(); a-- > 0;)
    for (std::size_t b = a + 1; b < cuts_.count(); ++b) {
      if (!cuts_.precedes(a, b)) continue;
      for (int m = 1; m <= (straight_ ? 1 : workers_); ++m) {
        const double first = stage(a, b, m);
        if (b == cuts_.last()) {
          for (std::size_t w = static_cast<std::size_t>(m); w <= width; ++w)
            table_[a * width + w - 1] = std::min(table_[a * width + w - 1], first);
          continue;
        }
        for (std::size_t w = static_cast<std::size_t>(m) + 1; w <= width; ++w) {
          const double rest = table_[b * width + w - 1 - static_cast<std::size_t>(m)];
          table_[a * width + w - 1] = std::min(table_[a * width + w - 1], std::max(first, rest));
        }
      }
    }
}

double Relaxation::rest(std::size_t a, int workers) const {
  if (a == cuts_.last()) return 0;
  if (workers < 1) return kUnbounded;
  if (table_.empty()) return (time_.back() - time_[a]) / workers * kBelowRounding;
  return table_[a * static_cast<std::size_t>(workers_) + static_cast<std::size_t>(workers - 1)];
}

}  // namespace pipedream::plan
