// What happens when a signal asks the program to end: SIGINT (Ctrl-C), SIGTERM, SIGHUP (the
// terminal is gone), and for trainings with checkpoints SIGUSR1.
#pragma once

#include <string>

namespace pipedream::cli {

// While an object of this class exists, SIGINT, SIGTERM and SIGHUP print "pipedream: " and `line`
// to stderr before they end the process. The process still ends by the signal (shells show codes
// 130, 143 and 129). If several objects exist, the line of the newest is printed. One thread must
// make and destroy all of them, the newest first. The signal may arrive in any thread.
class WhenInterrupted {
 public:
  explicit WhenInterrupted(const std::string& line);
  ~WhenInterrupted();
  WhenInterrupted(const WhenInterrupted&) = delete;
  WhenInterrupted& operator=(const WhenInterrupted&) = delete;

 private:
  std::string line_;
  const char* before_;
};

// While an object of this class exists, the first signal does not end the process. It prints
// "pipedream: " and `line` to stderr, and was_asked() returns true from then on. The next SIGINT,
// SIGTERM or SIGHUP ends the process as WhenInterrupted says. At most one object exists at a time,
// inside the life of a WhenInterrupted.
class StopOnSignal {
 public:
  // `line` may be empty: then nothing is printed. With `only_user_signal` only SIGUSR1 is caught,
  // as under mpirun, which ends its processes by SIGTERM if one of them is lost.
  StopOnSignal(const std::string& line, bool only_user_signal);
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  // Catches SIGUSR1 from now on, also before and after the life of an object. One that comes before
  // is not forgotten: was_asked() returns true.
  static void catch_user_signal();

  // To be called if the training writes no checkpoint: from now on SIGUSR1 ends the process as
  // SIGTERM does. One that came before does so now.
  static void end_by_user_signal();

  // May be called from any thread.
  [[nodiscard]] static bool was_asked();

 private:
  std::string line_;
};

// If the environment variable PIPEDREAM_PARENT has the number of the process that started this one,
// the kernel sends SIGTERM when that process ends. Programs that run this one and wait for it set
// the variable, so that no training goes on alone.
void end_with_parent();

}  // namespace pipedream::cli
