#include "cli/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstring>

#include <unistd.h>

namespace pipedream::cli {
namespace {

std::atomic<const char*> spoken = nullptr;

// Only calls functions that a signal handler may call. If a second signal arrives meanwhile in
// another thread, it finds no line to print and returns; the first signal ends the process.
extern "C" void speak_and_end(int signal) {
  const char* line = spoken.exchange(nullptr);
  if (line == nullptr) return;
  [[maybe_unused]] const ssize_t written = ::write(2, line, std::strlen(line));
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);  // delivered once this handler has returned
}

// Sets the signal's handler to `to`, but only if it is `from` now.
void redirect(int signal, void (*from)(int), void (*to)(int)) {
  struct sigaction found {};
  if (::sigaction(signal, nullptr, &found) == 0 && found.sa_handler == from)
    (void)std::signal(signal, to);
}

}  // namespace

WhenInterrupted::WhenInterrupted(const std::string& line)
    // On a terminal the line starts on a new line, after a progress bar or the echoed ^C.
    : line_((::isatty(2) == 1 ? "\n" : "") + std::string("pipedream: ") + line + "\n"),
      before_(spoken.exchange(line_.c_str())) {
  // A user who starts the program with the signal ignored (nohup, or a shell's background job)
  // wants it to stay ignored.
  for (const int signal : {SIGINT, SIGTERM}) redirect(signal, SIG_DFL, speak_and_end);
}

WhenInterrupted::~WhenInterrupted() {
  spoken = before_;
  if (before_ != nullptr) return;
  for (const int signal : {SIGINT, SIGTERM}) redirect(signal, speak_and_end, SIG_DFL);
}

}  // namespace pipedream::cli
