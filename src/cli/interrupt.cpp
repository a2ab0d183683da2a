#include "cli/interrupt.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <sys/prctl.h>
#include <unistd.h>

namespace pipedream::cli {
namespace {

// The signals that end a process: Ctrl-C, a request, and a terminal or a connection that is gone.
constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP};

std::atomic<const char*> spoken = nullptr;
// What StopOnSignal prints at the first signal; null if there is no such object.
std::atomic<const char*> asked_line = nullptr;
std::atomic<bool> asked = false;
std::atomic<bool> only_user_signal_stops = false;
std::atomic<bool> user_signal_ends = false;

void print(const char* line) {
  [[maybe_unused]] const ssize_t written = ::write(2, line, std::strlen(line));
}

// Only calls functions that a signal handler may call. If a second signal arrives meanwhile in
// another thread, it finds no line to print and returns; the first signal ends the process.
extern "C" void speak_and_end(int signal) {
  if (signal == SIGUSR1 || !only_user_signal_stops) {
    const char* stopping = asked_line;
    if (stopping != nullptr && !asked.exchange(true)) return print(stopping);
  }
  if (signal == SIGUSR1) {
    asked = true;
    if (user_signal_ends) (void)::kill(::getpid(), SIGTERM);
    return;
  }
  const char* line = spoken.exchange(nullptr);
  if (line == nullptr) return;
  print(line);
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);  // delivered once this handler has returned
}

// Sets the signal's handler to `to`, but only if it is `from` now.
void redirect(int signal, void (*from)(int), void (*to)(int)) {
  struct sigaction found {};
  if (::sigaction(signal, nullptr, &found) == 0 && found.sa_handler == from)
    (void)std::signal(signal, to);
}

// On a terminal the line starts on a new line, after a progress bar or the echoed ^C.
std::string shown(const std::string& line) {
  return (::isatty(2) == 1 ? "\n" : "") + std::string("pipedream: ") + line + "\n";
}

}  // namespace

WhenInterrupted::WhenInterrupted(const std::string& line)
    : line_(shown(line)), before_(spoken.exchange(line_.c_str())) {
  // A user who starts the program with the signal ignored (nohup, or a shell's background job)
  // wants it to stay ignored.
  for (const int signal : kEnding) redirect(signal, SIG_DFL, speak_and_end);
}

WhenInterrupted::~WhenInterrupted() {
  spoken = before_;
  if (before_ != nullptr) return;
  for (const int signal : kEnding) redirect(signal, speak_and_end, SIG_DFL);
}

StopOnSignal::StopOnSignal(const std::string& line, bool only_user_signal)
    : line_(line.empty() ? "" : shown(line)) {
  only_user_signal_stops = only_user_signal;
  asked_line = line_.c_str();
  catch_user_signal();
}

// Also if a library has caught it meanwhile.
void StopOnSignal::catch_user_signal() {
  struct sigaction found {};
  if (::sigaction(SIGUSR1, nullptr, &found) == 0 && found.sa_handler != SIG_IGN)
    (void)std::signal(SIGUSR1, speak_and_end);
}

// SIGUSR1 stays caught: a second one must not end the process while it writes its results.
StopOnSignal::~StopOnSignal() {
  asked_line = nullptr;
  only_user_signal_stops = false;
}

void StopOnSignal::end_by_user_signal() {
  user_signal_ends = true;
  if (asked) (void)::kill(::getpid(), SIGTERM);
}

bool StopOnSignal::was_asked() { return asked; }

void end_with_parent() {
  const char* found = std::getenv("PIPEDREAM_PARENT");
  if (found == nullptr) return;
  const std::string parent = found;
  ::unsetenv("PIPEDREAM_PARENT");  // processes that this one starts have another parent
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (std::to_string(::getppid()) != parent) (void)std::raise(SIGTERM);  // it has ended already
}

}  // namespace pipedream::cli
