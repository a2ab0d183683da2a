// Progress on stderr: on a terminal a bar with the time left, otherwise lines with timestamps.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/units.h"

namespace pipedream::cli {

// One progress bar. Used from one thread. The destructor erases the bar.
class Progress {
 public:
  // Shows nothing during the first `quiet` seconds, so that short work shows no bar at all.
  explicit Progress(std::string title, Seconds quiet = Seconds(0));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows that `share` (0 to 1) of the work is done. The bar is drawn at most ten times a second;
  // without a terminal a line is printed at most every five seconds. The time left is estimated
  // from `used`, the time that the work took so far, or, without `used`, from the time since the
  // bar was constructed.
  void show(double share, const std::string& what, std::optional<Seconds> used = std::nullopt);

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_;
};

// How long the bar of a profiling phase, or of an evaluation, stays hidden. With a small network
// most are shorter.
inline constexpr Seconds kQuietPhase{1};

// Progress of work that has several phases. Each phase has its own bar, with its own title and time
// left. Used from one thread.
class PhaseProgress {
 public:
  // Returns the bar with this `title`. If the current bar has another title, it ends and a new one
  // begins. `quiet`: see Progress.
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
