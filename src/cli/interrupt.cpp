#include "cli/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstring>

#include <unistd.h>

namespace pipedream::cli {
namespace {

std::atomic<const char*> spoken = nullptr;

// Does only what a signal's handler may. A second signal, which another thread may get meanwhile,
// finds nothing to say and leaves the end to the first.
extern "C" void speak_and_end(int signal) {
  const char* line = spoken.exchange(nullptr);
  if (line == nullptr) return;
  [[maybe_unused]] const ssize_t written = ::write(2, line, std::strlen(line));
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);  // once this handler has returned
}

// Redirects the signal, if it does what `from` says.
void redirect(int signal, void (*from)(int), void (*to)(int)) {
  struct sigaction found {};
  if (::sigaction(signal, nullptr, &found) == 0 && found.sa_handler == from)
    (void)std::signal(signal, to);
}

}  // namespace

WhenInterrupted::WhenInterrupted(const std::string& line)
    // On a terminal it follows a progress bar, or what it echoes for Ctrl-C.
    : line_((::isatty(2) == 1 ? "\n" : "") + std::string("pipedream: ") + line + "\n"),
      before_(spoken.exchange(line_.c_str())) {
  // One who starts a program with the signal ignored (nohup, a shell's background) means it.
  for (const int signal : {SIGINT, SIGTERM}) redirect(signal, SIG_DFL, speak_and_end);
}

WhenInterrupted::~WhenInterrupted() {
  spoken = before_;
  if (before_ != nullptr) return;
  for (const int signal : {SIGINT, SIGTERM}) redirect(signal, speak_and_end, SIG_DFL);
}

}  // namespace pipedream::cli
