// Checks and limits for flags that several subcommands use.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include <CLI/CLI.hpp>

#include "core/text.h"

namespace pipedream::cli {

// The number as text, for messages: 1048576, 0.001, 1e+30. A power of ten is used only for numbers
// that would be too long without it.
template <class Number>
[[nodiscard]] std::string bound_text(Number bound) {
  if constexpr (std::is_integral_v<Number>)
    return std::to_string(bound);
  else
    return bound == 0 || (bound >= 1e-6 && bound < 1e15) ? brief_number(bound)
                                                         : exact_number(bound);
}

// Returns a validator that accepts a number from `least` to `most`. `what` names the kind of number
// in the message. It replaces CLI11's own range check, whose messages have another style.
template <class Number>
[[nodiscard]] CLI::Validator range(Number least, Number most, const std::string& what) {
  return {[=](const std::string& text) -> std::string {
            Number number{};
            const char* end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, number);
            if (error == std::errc{} && stop == end && number >= least && number <= most) return "";
            return "wanted " + what + " from " + bound_text(least) + " to " + bound_text(most) +
                   ", found '" + text + "'";
          },
          ""};
}

// Accepts any finite number above zero. Returns an empty text, or what is wrong with `text`.
[[nodiscard]] inline std::string check_positive(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool reads = error == std::errc{} && stop == end;
  return reads && number > 0 && std::isfinite(number)
             ? ""
             : "wanted a number above 0, found '" + text + "'";
}

inline constexpr char kWholeNumber[] = "a whole number";
inline constexpr std::int64_t kMostSamples = 1 << 30;
inline constexpr std::int64_t kMostSeed = std::int64_t{1} << 53;  // exact as a number in JSON

[[nodiscard]] inline std::string check_folder_name(const std::string& name) {
  return name.empty() ? "wanted a folder's name, found nothing" : "";
}

// Accepts the name of a file to write. Refuses "-", because --json is the way to print to stdout.
[[nodiscard]] inline std::string check_output_name(const std::string& name) {
  return name.empty() || name == "-" ? "wanted a file's name (--json prints to stdout)" : "";
}

// --cores: the cores that workers on CPUs compute on (docs/runtime.md: Cores).
inline constexpr char kOwnCores[] = "own";
inline constexpr char kAnyCores[] = "any";
inline constexpr char kCoresHelp[] =
    "own: each worker on a CPU computes on cores of its own; any: the system chooses [own]";
[[nodiscard]] inline std::string check_cores(const std::string& text) {
  return text == kOwnCores || text == kAnyCores ? "" : "wanted own or any, found '" + text + "'";
}

}  // namespace pipedream::cli
