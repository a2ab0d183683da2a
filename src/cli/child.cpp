#include "cli/child.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"

namespace pipedream::cli {
namespace {

constexpr int kNotFound = 127;

// Becomes the program, in the forked process. Only calls what is safe there.
[[noreturn]] void become(char* const* words, bool quiet) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE})
    (void)std::signal(number, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  if (quiet) {
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
  }
  ::execvp(words[0], words);
  ::_exit(kNotFound);
}

}  // namespace

Child::Child(const std::vector<std::string>& words, bool quiet) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  process_ = ::fork();
  if (process_ == 0) become(pointers.data(), quiet);
  if (process_ < 0) throw IoError(std::string("cannot start a process: ") + std::strerror(errno));
  ::setpgid(process_, process_);  // also here, so that it is done whoever runs first
}

Child::~Child() {
  if (status()) return;
  signal_group(SIGKILL);
  (void)::waitpid(process_, nullptr, 0);
}

std::optional<int> Child::status() {
  int raw = 0;
  if (!status_ && ::waitpid(process_, &raw, WNOHANG) == process_)
    status_ = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
  return status_;
}

bool Child::ends_within(std::chrono::milliseconds time) {
  constexpr auto kLook = std::chrono::milliseconds(20);
  for (auto waited = std::chrono::milliseconds(0); !status() && waited < time; waited += kLook)
    ::usleep(static_cast<useconds_t>(std::chrono::microseconds(kLook).count()));
  return status().has_value();
}

void Child::signal(int number) const { ::kill(process_, number); }
void Child::signal_group(int number) const { ::kill(-process_, number); }

void Child::signal_started(int number, const std::filesystem::path& program) const {
  const std::string id = std::to_string(process_);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  for (pid_t each = 0; children >> each;) {
    std::error_code gone;
    if (std::filesystem::read_symlink("/proc/" + std::to_string(each) + "/exe", gone) == program)
      ::kill(each, number);
  }
}

}  // namespace pipedream::cli
