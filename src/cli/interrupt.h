// The message that is printed when a signal ends the program: SIGINT (Ctrl-C) or SIGTERM.
#pragma once

#include <string>

namespace pipedream::cli {

// While an object of this class exists, SIGINT and SIGTERM print "pipedream: " and `line` to stderr
// before they end the process. The process still ends by the signal (shells show codes 130 and
// 143). If several objects exist, the line of the newest is printed. One thread must make and
// destroy all of them, the newest first. The signal may arrive in any thread.
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

}  // namespace pipedream::cli
