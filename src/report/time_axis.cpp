#include "report/time_axis.h"

#include "core/check.h"
#include "report/table.h"

namespace pipedream::report {
namespace {

struct Unit {
  const char* name;
  std::int64_t nanos;
};
constexpr Unit kUnits[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"µs", 1'000}, {"ns", 1}};

// Returns the largest unit in which the step has at most one decimal.
const Unit& unit_for(std::int64_t step) {
  for (const Unit& unit : kUnits)
    if (step >= unit.nanos / 10 && step > 0) return unit;
  return kUnits[3];
}

std::int64_t step_for(std::int64_t span, int most) {
  constexpr std::int64_t kLargest = 1'000'000'000'000'000'000;
  for (std::int64_t power = 1; power < kLargest; power *= 10)
    for (const std::int64_t factor : {1, 2, 5})
      if (span / (power * factor) <= most) return power * factor;
  return span / kLargest <= most ? kLargest : 5 * kLargest;
}

std::string label_of(std::int64_t time, std::int64_t step, const Unit& unit) {
  std::string label = grouped(time / unit.nanos);
  if (step % unit.nanos != 0) label += "." + std::to_string(time % unit.nanos * 10 / unit.nanos);
  return label;
}

}  // namespace

Axis axis_of(Nanos from, Nanos to, int most) {
  PD_CHECK(Nanos{0} <= from && from < to && most >= 1);
  const std::int64_t step = step_for((to - from).count(), most);
  const Unit& unit = unit_for(step);
  Axis axis{unit.name, {}};
  const std::int64_t first = from.count() / step + (from.count() % step == 0 ? 0 : 1);
  const std::int64_t further = to.count() / step - first;
  for (std::int64_t i = 0; i <= further; ++i) {
    const std::int64_t time = (first + i) * step;
    axis.ticks.push_back({Nanos{time}, label_of(time, step, unit)});
  }
  return axis;
}

}  // namespace pipedream::report
