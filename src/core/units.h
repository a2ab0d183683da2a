// Types for times, sizes and bandwidths, and how people write them: "16GiB", "10Gbit/s", "20us"
// (docs/formats.md#units). Times and sizes are integers, so that sums are exact.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace pipedream {

// The unit of all simulated and measured times.
using Nanos = std::chrono::duration<std::int64_t, std::nano>;

// The unit of predicted times. It is not an integer, because the cost formulas divide and must not
// round in between.
using Seconds = std::chrono::duration<double>;

struct Bytes {
  std::int64_t count = 0;
  friend auto operator<=>(Bytes, Bytes) = default;
  friend Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  Bytes& operator+=(Bytes other) { return *this = *this + other; }
};

struct Bandwidth {
  double bytes_per_second = 0;
  friend auto operator<=>(Bandwidth, Bandwidth) = default;
};

[[nodiscard]] double to_seconds(Nanos time);
[[nodiscard]] Nanos from_seconds(double seconds);  // rounded to the nearest nanosecond

// Parse a quantity that a person wrote: a number, optional spaces, a unit. 1 kB is 1000 B and 1 KiB
// is 1024 B. Throw BadValue for any other text, and for negative, infinite or too large values; the
// message says what was wanted and which units exist.
[[nodiscard]] Bytes parse_bytes(std::string_view text);          // "16GiB", "1.5 MB", "512B"
[[nodiscard]] Bandwidth parse_bandwidth(std::string_view text);  // "10Gbit/s"; at least 1bit/s
[[nodiscard]] Nanos parse_duration(std::string_view text);       // "20us", "1.5ms", "2min"

// Write a quantity for people: about four digits, in the unit that suits its size.
[[nodiscard]] std::string to_text(Bytes size);
[[nodiscard]] std::string to_text(Bandwidth speed);
[[nodiscard]] std::string to_text(Nanos time);

// Write a quantity for files: exactly, in the largest unit that allows it. The parse functions
// return the same value.
[[nodiscard]] std::string to_exact_text(Bytes size);
[[nodiscard]] std::string to_exact_text(Bandwidth speed);
[[nodiscard]] std::string to_exact_text(Nanos time);

}  // namespace pipedream
