// Units as types, and how people write them: "16GiB", "10Gbit/s", "20us".
// Integers for time and size, so that sums are exact. 1 kB is 1000 B, 1 KiB is 1024 B.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace pipedream {

// Simulated and measured times share this one unit.
using Nanos = std::chrono::duration<std::int64_t, std::nano>;

// Predicted times: formulas divide, and must not round on the way.
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

// Read what a person wrote: a number, optional spaces, a unit. Throw BadValue, which says what was
// wanted and which units exist, for anything else and for negative, infinite or too large values.
[[nodiscard]] Bytes parse_bytes(std::string_view text);          // "16GiB", "1.5 MB", "512B"
[[nodiscard]] Bandwidth parse_bandwidth(std::string_view text);  // "10Gbit/s", "12.5GB/s"; above 0
[[nodiscard]] Nanos parse_duration(std::string_view text);       // "20us", "1.5ms", "2min"

// For people: about four digits and the fitting unit.
[[nodiscard]] std::string to_text(Bytes size);
[[nodiscard]] std::string to_text(Bandwidth speed);
[[nodiscard]] std::string to_text(Nanos time);

// For files: the largest unit that loses nothing; the parse functions give back the same value.
[[nodiscard]] std::string to_exact_text(Bytes size);
[[nodiscard]] std::string to_exact_text(Bandwidth speed);
[[nodiscard]] std::string to_exact_text(Nanos time);

}  // namespace pipedream
