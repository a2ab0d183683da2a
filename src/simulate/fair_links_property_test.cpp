// The rates of FairLinks are max–min fair by definition, and its flows end when a plain integration
// of these rates says.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"
#include "simulate/fair_links_testing.h"

namespace pipedream::simulate {
namespace {

using test::any_of_range;

struct Problem {
  std::vector<Bandwidth> links;
  std::vector<FlowCase> flows;  // sorted by start
};

Problem any_problem() {
  Problem any;
  for (int i = any_of_range(1, 7); i > 0; --i) any.links.push_back({any_of_range(1, 40) * 0.25e9});
  const double weights[] = {1, 1, 0.5, 0.25, 2, 1.0 / 3};
  for (int i = any_of_range(1, 12); i > 0; --i) {
    FlowCase flow;
    flow.start = Nanos(any_of_range(0, 2) * any_of_range(0, 2000));
    flow.volume = any_of_range(0, 4000);
    for (std::uint32_t l = 0; l < any.links.size(); ++l)
      if (any_of_range(0, 3) == 0) flow.uses.push_back({l, weights[test::any_index(6)]});
    if (flow.uses.empty())
      flow.uses.push_back({static_cast<std::uint32_t>(test::any_index(any.links.size()))});
    any.flows.push_back(std::move(flow));
  }
  std::stable_sort(any.flows.begin(), any.flows.end(),
                   [](const FlowCase& a, const FlowCase& b) { return a.start < b.start; });
  return any;
}

// Returns the max–min fair rates of the flows that run, in bytes per second. All rates grow
// together until a link is full; then the flows on that link stop growing.
std::vector<double> fair_rates(const Problem& problem, const std::vector<bool>& runs) {
  std::vector<double> rates(problem.flows.size());
  std::vector<bool> grows = runs;
  while (std::find(grows.begin(), grows.end(), true) != grows.end()) {
    double step = std::numeric_limits<double>::infinity();
    const auto sums = [&](std::uint32_t l) {  // bandwidth in use; sum of growing weights
      double used = 0;
      double more = 0;
      for (std::size_t f = 0; f < rates.size(); ++f)
        for (const Use& use : problem.flows[f].uses)
          if (use.link == l && runs[f]) {
            used += use.weight * rates[f];
            more += grows[f] ? use.weight : 0;
          }
      return std::pair{used, more};
    };
    for (std::uint32_t l = 0; l < problem.links.size(); ++l)
      if (const auto [used, more] = sums(l); more > 0)
        step = std::min(step, (problem.links[l].bytes_per_second - used) / more);
    for (std::size_t f = 0; f < rates.size(); ++f) rates[f] += grows[f] ? step : 0;
    for (std::uint32_t l = 0; l < problem.links.size(); ++l) {
      if (sums(l).first < problem.links[l].bytes_per_second * (1 - 1e-9)) continue;
      for (std::size_t f = 0; f < rates.size(); ++f)
        for (const Use& use : problem.flows[f].uses)
          if (use.link == l) grows[f] = false;
    }
  }
  return rates;
}

// Expects that no link carries more than its bandwidth, and that every flow has a full link on
// which no flow is faster. Only one set of rates fulfils this: the max–min fair one.
void expect_max_min_fair(const Problem& problem, const std::vector<bool>& runs,
                         const std::vector<double>& rates) {
  std::vector<double> used(problem.links.size());
  std::vector<double> highest(problem.links.size());
  for (std::size_t f = 0; f < rates.size(); ++f)
    for (const Use& use : problem.flows[f].uses) {
      if (!runs[f]) continue;
      used[use.link] += use.weight * rates[f];
      highest[use.link] = std::max(highest[use.link], rates[f]);
    }
  for (std::size_t l = 0; l < used.size(); ++l)
    RC_ASSERT(used[l] <= problem.links[l].bytes_per_second * (1 + 1e-9));
  for (std::size_t f = 0; f < rates.size(); ++f) {
    if (!runs[f]) continue;
    const auto& uses = problem.flows[f].uses;
    RC_ASSERT(std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      return used[use.link] >= problem.links[use.link].bytes_per_second * (1 - 1e-6) &&
             rates[f] >= highest[use.link] * (1 - 1e-6);
    }));
  }
}

// Returns when each flow ends at the rates of fair_rates(), in nanoseconds, without rounding.
std::vector<double> plain_ends(const Problem& problem) {
  const std::size_t count = problem.flows.size();
  std::vector<double> left(count);
  std::vector<double> ends(count);
  std::vector<bool> runs(count);
  std::size_t next = 0;
  for (double now = 0;;) {
    const std::vector<double> rates = fair_rates(problem, runs);
    expect_max_min_fair(problem, runs, rates);
    double then = std::numeric_limits<double>::infinity();
    if (next < count) then = static_cast<double>(problem.flows[next].start.count());
    std::size_t ending = count;
    for (std::size_t f = 0; f < count; ++f)
      if (runs[f] && now + left[f] / rates[f] * 1e9 <= then) {
        then = now + left[f] / rates[f] * 1e9;
        ending = f;
      }
    if (ending == count && next == count) return ends;
    for (std::size_t f = 0; f < count; ++f)
      if (runs[f]) left[f] -= rates[f] * (then - now) / 1e9;
    now = then;
    if (ending < count) {
      ends[ending] = now;
      runs[ending] = false;
    } else {
      left[next] = problem.flows[next].volume;
      runs[next++] = true;
    }
  }
}

// FairLinks rounds every end to a nanosecond. Each rounding may shift the ends of other flows by a
// nanosecond too.
RC_GTEST_PROP(FairLinksProperty, FlowsEndWhenMaxMinFairRatesHaveMovedTheirVolume, ()) {
  const Problem problem = any_problem();
  FairLinks links(problem.links);
  const std::vector<Nanos> ends = ends_of(links, problem.flows);
  const std::vector<double> wanted = plain_ends(problem);
  for (std::size_t f = 0; f < ends.size(); ++f) {
    RC_LOG() << "flow " << f << ": " << ends[f].count() << ", not " << wanted[f] << "\n";
    RC_ASSERT(std::abs(static_cast<double>(ends[f].count()) - wanted[f]) <=
              2 + static_cast<double>(ends.size()));
  }
}

RC_GTEST_PROP(FairLinksProperty, EveryLinkCarriesTheVolumesOfAllItsFlows, ()) {
  const Problem problem = any_problem();
  FairLinks links(problem.links);
  (void)ends_of(links, problem.flows);
  for (std::uint32_t l = 0; l < problem.links.size(); ++l) {
    double wanted = 0;
    for (const FlowCase& flow : problem.flows)
      for (const Use& use : flow.uses)
        if (use.link == l) wanted += use.weight * flow.volume;
    RC_ASSERT(std::abs(links.bytes(l) - wanted) <= 1e-9 * (1 + wanted));
  }
}

RC_GTEST_PROP(FairLinksProperty, AFlowAloneTakesItsVolumeOverItsBandwidthToTheNanosecond, ()) {
  const std::vector<Bandwidth> bandwidth{{any_of_range(1, 1'000'000) * 1e4}};
  const FlowCase flow{Nanos(any_of_range(0, 1'000'000)), {{0}}, 1.0 * any_of_range(0, 1 << 30)};
  FairLinks links(bandwidth);
  RC_ASSERT(ends_of(links, {flow}).front() ==
            flow.start + from_seconds(flow.volume / bandwidth[0].bytes_per_second));
}

}  // namespace
}  // namespace pipedream::simulate
