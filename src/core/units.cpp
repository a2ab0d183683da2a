#include "core/units.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"

namespace pipedream {
namespace {

struct Unit {
  std::string_view name;
  double scale;
};

// The units of each array are in ascending order, which the writing functions require.
constexpr Unit kByteUnits[] = {{"B", 1},
                               {"kB", 1e3},
                               {"KiB", 1024.0},
                               {"MB", 1e6},
                               {"MiB", 1048576.0},
                               {"GB", 1e9},
                               {"GiB", 1073741824.0},
                               {"TB", 1e12},
                               {"TiB", 1099511627776.0}};
constexpr Unit kSpeedUnits[] = {
    {"bit/s", 0.125},  {"B/s", 1},        {"kbit/s", 125},         {"kB/s", 1e3},
    {"KiB/s", 1024},   {"Mbit/s", 125e3}, {"MB/s", 1e6},           {"MiB/s", 1048576.0},
    {"Gbit/s", 125e6}, {"GB/s", 1e9},     {"GiB/s", 1073741824.0}, {"Tbit/s", 125e9},
    {"TB/s", 1e12}};
constexpr Unit kTimeUnits[] = {{"ns", 1},  {"us", 1e3},   {"ms", 1e6},
                               {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};

// The units of one quantity.
struct Family {
  std::string_view what;  // for messages: "wanted a size such as …"
  std::string_view example;
  std::span<const Unit> units;
  double largest;  // largest value that is accepted, in the base unit
};

// 2^62: the sum of two such values does not overflow an int64. 2^62 nanoseconds are 146 years.
constexpr double kLargestInteger = 4611686018427387904.0;
constexpr double kSlowest = 0.125;  // bytes per second; transfers must take a finite time
constexpr Family kSizes{"a size", "16GiB", kByteUnits, kLargestInteger};
constexpr Family kSpeeds{"a speed", "10Gbit/s", kSpeedUnits, 1e18};
constexpr Family kTimes{"a time", "20us", kTimeUnits, kLargestInteger};

std::string known_units(const Family& family) {
  std::string text;
  for (const Unit& unit : family.units) text += (text.empty() ? "" : ", ") + std::string(unit.name);
  return text;
}

[[noreturn]] void refuse(const Family& family, std::string_view text, std::string_view why) {
  throw BadValue(fmt::format("wanted {} such as \"{}\", found \"{}\"{}{} (units: {})", family.what,
                             family.example, printable(text), why.empty() ? "" : ": ", why,
                             known_units(family)));
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct Written {
  double value;                       // in the base unit
  std::optional<std::int64_t> whole;  // the number before the unit, if it is a whole number
  double scale;
};

// Returns the advice "; write \"100Mbit/s\"" for the text "100Mbps", a common way to write a
// bandwidth. Returns an empty string if `name`, the unit in the text `all`, does not end in "bps".
std::string instead_of_bps(const Family& family, std::string_view all, std::string_view name) {
  constexpr std::string_view kBps = "bps";
  if (!name.ends_with(kBps)) return "";
  const std::string ours = std::string(name.substr(0, name.size() - kBps.size())) + "bit/s";
  for (const Unit& unit : family.units)
    if (unit.name == ours)
      return fmt::format("; write \"{}{}\"", all.substr(0, all.size() - name.size()), ours);
  return "";
}

Written parse(const Family& family, std::string_view text) {
  const std::string_view all = trim(text);
  double number = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
  if (error != std::errc{}) refuse(family, text, "");
  const std::string_view name = trim(all.substr(static_cast<std::size_t>(end - all.data())));
  if (name.empty()) refuse(family, text, "the unit is missing");
  if (!std::isfinite(number)) refuse(family, text, "it is not finite");
  if (number < 0) refuse(family, text, "it is negative");
  for (const Unit& unit : family.units) {
    if (unit.name != name) continue;
    if (number * unit.scale > family.largest) refuse(family, text, "it is too large");
    std::int64_t whole = 0;
    const auto [end_of_whole, problem] = std::from_chars(all.data(), end, whole);
    const bool is_whole = problem == std::errc{} && end_of_whole == end;
    return {number * unit.scale, is_whole ? std::optional(whole) : std::nullopt, unit.scale};
  }
  refuse(family, text, "there is no such unit" + instead_of_bps(family, all, name));
}

// Whole numbers are computed as integers, because doubles are exact only up to 2^53.
std::int64_t parse_integer(const Family& family, std::string_view text) {
  const Written written = parse(family, text);
  if (written.whole) return *written.whole * static_cast<std::int64_t>(written.scale);
  return std::llround(written.value);
}

// Returns `number` with about four digits, without an exponent or trailing zeros: 1234, 12.3,
// 0.125.
std::string four_digits(double number) {
  const int decimals = number >= 1000 ? 0 : number >= 100 ? 1 : number >= 10 ? 2 : 3;
  std::string text = fmt::format("{:.{}f}", number, decimals);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

// Writes `value` in the largest of the units `names` in which it is at least 1, else in the
// smallest. `names` are units of `family`, in ascending order.
std::string for_people(const Family& family, std::span<const std::string_view> names, double value,
                       std::string_view space) {
  const Unit* best = nullptr;
  for (const std::string_view name : names) {
    for (const Unit& unit : family.units) {
      if (unit.name != name) continue;
      // 999.96 ms would be written as "1000 ms"; 0.99995 makes it "1 s".
      if (best == nullptr || value >= unit.scale * 0.99995) best = &unit;
    }
  }
  return four_digits(value / best->scale) + std::string(space) + std::string(best->name);
}

std::string exact(const Family& family, double value) {
  for (auto unit = family.units.rbegin(); unit != family.units.rend(); ++unit) {
    const double number = value / unit->scale;
    if (number == std::floor(number) && number * unit->scale == value &&
        (number >= 1 || value == 0))
      return fmt::format("{:.0f}{}", number, unit->name);
  }
  return fmt::format("{}{}", value / family.units.front().scale, family.units.front().name);
}

std::string exact_integer(const Family& family, std::int64_t count) {
  for (auto unit = family.units.rbegin(); unit != family.units.rend(); ++unit) {
    const auto scale = static_cast<std::int64_t>(unit->scale);
    if (count % scale == 0 && (count >= scale || scale == 1))
      return fmt::format("{}{}", count / scale, unit->name);
  }
  return fmt::format("{}{}", count, family.units.front().name);
}

}  // namespace

// Divides by 1e9. Multiplying by 1e-9, which no double represents exactly, would make 10^15 ns
// 1000000.0000000001 s.
double to_seconds(Nanos time) { return static_cast<double>(time.count()) / 1e9; }

Nanos from_seconds(double seconds) { return Nanos(std::llround(seconds * 1e9)); }

Bytes parse_bytes(std::string_view text) { return {parse_integer(kSizes, text)}; }

Bandwidth parse_bandwidth(std::string_view text) {
  const double speed = parse(kSpeeds, text).value;
  if (speed < kSlowest) refuse(kSpeeds, text, "it must be at least 1bit/s");
  return {speed};
}

Nanos parse_duration(std::string_view text) { return Nanos(parse_integer(kTimes, text)); }

std::string to_text(Bytes size) {
  static constexpr std::string_view kNames[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (size.count < 0) return "-" + to_text(Bytes{-size.count});
  return for_people(kSizes, kNames, static_cast<double>(size.count), " ");
}

std::string to_text(Bandwidth speed) {
  static constexpr std::string_view kNames[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  return for_people(kSpeeds, kNames, speed.bytes_per_second, " ");
}

std::string to_text(Nanos time) {
  static constexpr std::string_view kNames[] = {"ns", "us", "ms", "s"};
  if (time.count() < 0) return "-" + to_text(-time);
  return for_people(kTimes, kNames, static_cast<double>(time.count()), " ");
}

std::string to_exact_text(Bytes size) { return exact_integer(kSizes, size.count); }
std::string to_exact_text(Bandwidth speed) { return exact(kSpeeds, speed.bytes_per_second); }
std::string to_exact_text(Nanos time) { return exact_integer(kTimes, time.count()); }

}  // namespace pipedream
