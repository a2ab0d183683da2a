// The event queue of the simulator (docs/simulator.md): what happens next in simulated time.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "core/check.h"
#include "core/error.h"
#include "core/units.h"

namespace pipedream::simulate {

// What a happening is about. At one point in time flows end first, then lanes go on, then workers.
// So whatever starts at that time finds the links as they are from then on.
enum class What : std::uint32_t { kFlow = 0, kLane = 1, kWorker = 2 };

struct Happening {
  Nanos time{0};
  std::uint32_t code = 0;        // what() in the two highest bits, index() in the others
  std::uint32_t generation = 0;  // for kFlow: FairLinks::Change::generation
  [[nodiscard]] What what() const { return static_cast<What>(code >> 30); }
  [[nodiscard]] std::uint32_t index() const { return code & kMostIndex; }
  static constexpr std::uint32_t kMostIndex = (std::uint32_t{1} << 30) - 1;

  friend bool operator>(const Happening& a, const Happening& b) {
    return a.time != b.time ? a.time > b.time : a.code > b.code;
  }
};

// The longest time that is simulated, 30 years. Nanoseconds overflow only after 292 years.
inline constexpr Nanos kHorizon = std::chrono::hours(24 * 365 * 30);
[[noreturn]] inline void refuse_horizon() {
  throw CannotMeet("the simulated run passes 30 years: a link or a worker is far too slow for it");
}

// A queue of happenings. Owned by the Engine and used by its thread.
class Clock {
 public:
  // Adds a happening. `index` is the number of the flow, lane or worker. Throws CannotMeet if
  // `time` is beyond the horizon.
  void at(Nanos time, What what, std::uint32_t index, std::uint32_t generation = 0) {
    PD_CHECK(index <= Happening::kMostIndex);
    if (time > kHorizon) refuse_horizon();
    queue_.push({time, (static_cast<std::uint32_t>(what) << 30) | index, generation});
  }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  // Removes and returns the earliest happening. Requires that the clock is not empty.
  Happening next() {
    const Happening first = queue_.top();
    queue_.pop();
    return first;
  }

 private:
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> queue_;
};

}  // namespace pipedream::simulate
