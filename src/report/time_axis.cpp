#include "report/time_axis.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"
#include "report/table.h"

namespace pipedream::report {
namespace {

struct Second {
  const char* name;
  std::int64_t nanos;
};
constexpr Second kSeconds[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"µs", 1'000}, {"ns", 1}};

// Returns the largest unit in which the step has at most one decimal.
TimeUnit unit_for(std::int64_t step) {
  for (const Second& unit : kSeconds)
    if (step >= unit.nanos / 10 && step > 0) return {Nanos{unit.nanos}, unit.name, unit.name};
  return {Nanos{1}, "ns", "ns"};
}

std::int64_t step_for(std::int64_t span, int most) {
  constexpr std::int64_t kLargest = 1'000'000'000'000'000'000;
  for (std::int64_t power = 1; power < kLargest; power *= 10)
    for (const std::int64_t factor : {1, 2, 5})
      if (span / (power * factor) <= most) return power * factor;
  return span / kLargest <= most ? kLargest : 5 * kLargest;
}

std::string label_of(std::int64_t time, const Axis& axis) {
  const std::int64_t unit = axis.unit.length.count();
  std::string label = grouped(time / unit);
  if (axis.step.count() % unit != 0) label += "." + std::to_string(time % unit * 10 / unit);
  return label;
}

// Returns a number of units, rounded to a thousandth.
std::string number_text(Nanos time, Nanos unit) {
  time = std::min(time, Nanos::max() - unit / 2000) + unit / 2000;
  std::string text = grouped(time / unit);
  std::int64_t rest = (time % unit).count();
  std::string decimals;
  for (int i = 0; i < 3; ++i) {
    rest *= 10;
    decimals += static_cast<char>('0' + rest / unit.count());
    rest %= unit.count();
  }
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return decimals.empty() ? text : text + "." + decimals;
}

}  // namespace

Axis axis_of(Nanos span, int most, const std::optional<TimeUnit>& unit) {
  PD_CHECK(Nanos{0} < span && most >= 1);
  if (!unit) {
    const std::int64_t step = step_for(span.count(), most);
    return {unit_for(step), Nanos{step}, true};
  }
  PD_CHECK(Nanos{1} <= unit->length);
  const std::int64_t steps =
      std::min(step_for(span / unit->length, most), Nanos::max() / unit->length);
  return {*unit, unit->length * steps, false};
}

std::vector<Tick> ticks_of(const Axis& axis, Nanos from, Nanos to) {
  PD_CHECK(Nanos{0} <= from && from <= to);
  const std::int64_t step = axis.step.count();
  const std::int64_t first = from.count() / step + (from.count() % step == 0 ? 0 : 1);
  const std::int64_t further = to.count() / step - first;
  std::vector<Tick> ticks;
  for (std::int64_t i = 0; i <= further; ++i) {
    const std::int64_t time = (first + i) * step;
    ticks.push_back({Nanos{time}, label_of(time, axis)});
  }
  return ticks;
}

std::string time_text(const Axis& axis, Nanos time) {
  const std::string number = number_text(time, axis.unit.length);
  return number + " " + (number == "1" ? axis.unit.one : axis.unit.many);
}

std::string rough_time_text(const Axis& axis, Nanos time) {
  const Nanos unit = std::max(axis.step / 100, Nanos{1});
  const Nanos past = time % unit;
  return time_text(axis, past <= unit / 2 ? time - past : time - past + unit);
}

std::string duration_text(const Axis& axis, Nanos duration) {
  if (!axis.is_seconds) return time_text(axis, duration);
  std::string text = to_text(duration);
  if (text.ends_with("us")) text.replace(text.size() - 2, 2, "µs");  // as on the axis
  return text;
}

std::string span_text(const Axis& axis, Nanos from, Nanos to) {
  return fmt::format("{} to {} ({})", time_text(axis, from), time_text(axis, to),
                     duration_text(axis, to - from));
}

}  // namespace pipedream::report
