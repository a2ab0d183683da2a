// What happens next in simulated time.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "core/units.h"

namespace pipedream::simulate {

// At one point in time flows end first, then lanes go on, then workers: whoever starts something
// finds the links as they are from then on.
enum class What : std::uint32_t { kFlow = 0, kLane = 1, kWorker = 2 };

struct Happening {
  Nanos time{0};
  std::uint32_t code = 0;  // what, in the two highest bits, and an index
  std::uint32_t generation = 0;
  [[nodiscard]] What what() const { return static_cast<What>(code >> 30); }
  [[nodiscard]] std::uint32_t index() const { return code & kMostIndex; }
  static constexpr std::uint32_t kMostIndex = (std::uint32_t{1} << 30) - 1;

  friend bool operator>(const Happening& a, const Happening& b) {
    return a.time != b.time ? a.time > b.time : a.code > b.code;
  }
};

class Clock {
 public:
  void at(Nanos time, What what, std::uint32_t index, std::uint32_t generation = 0) {
    queue_.push({time, (static_cast<std::uint32_t>(what) << 30) | index, generation});
  }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  Happening next() {
    const Happening first = queue_.top();
    queue_.pop();
    return first;
  }

 private:
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> queue_;
};

}  // namespace pipedream::simulate
