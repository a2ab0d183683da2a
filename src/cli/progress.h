// Progress on stderr: a bar with the time left on a terminal, timestamped lines otherwise.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/units.h"

namespace pipedream::cli {

// Used from one thread. The bar is erased when it goes out of scope.
class Progress {
 public:
  // `quiet`: how long it shows nothing, for work that is mostly done by then.
  explicit Progress(std::string title, Seconds quiet = Seconds(0));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `share` from 0 to 1. Drawn at most ten times a second, or as a line every five seconds. The
  // time left follows from `used`, the time that was spent so far; if not given, that is all the
  // time since the beginning.
  void show(double share, const std::string& what, std::optional<Seconds> used = std::nullopt);

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_;
};

// Most phases of profiling a small network are over by then.
inline constexpr Seconds kQuietPhase{1};

// Work in phases, each of which has a bar with a name and a time left of its own.
class PhaseProgress {
 public:
  // The bar of that title; a bar with another title ends. `quiet` as Progress has it.
  Progress& bar(const std::string& title, Seconds quiet = Seconds(0)) {
    if (!progress_ || title != title_) {
      title_ = title;
      progress_.emplace(title, quiet);
    }
    return *progress_;
  }
  void end() { progress_.reset(); }

 private:
  std::string title_;
  std::optional<Progress> progress_;
};

}  // namespace pipedream::cli
