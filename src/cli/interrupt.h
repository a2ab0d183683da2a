// What is said when somebody ends the program: Ctrl-C (SIGINT), or SIGTERM.
#pragma once

#include <string>

namespace pipedream::cli {

// While it lives, these signals print "pipedream: " and this line to stderr before they end the
// process, as they would have done anyway (shells show codes 130 and 143). Of several that live,
// the newest speaks. Made and destroyed by one thread; the signal may come in any.
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
