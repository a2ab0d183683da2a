// A program that runs in the background while a test looks at it. Only tests include this.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command_line_testing.h"

namespace pipedream {

// Calls `is_done` until it returns true, for two minutes at most. Returns its last answer.
inline bool comes_true(const std::function<bool()>& is_done) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!is_done()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    ::usleep(5'000);
  }
  return true;
}

// The program as a background process. `launcher` is put before it, such as mpirun. The destructor
// ends the process if it still runs.
class Background {
 public:
  explicit Background(const std::string& arguments, const std::string& launcher = "")
      : err_(scratch("background_err")) {
    const std::string command = "exec env " + launcher + PD_PROGRAM " " + arguments +
                                " >/dev/null 2>'" + err_.string() + "'";
    child_ = ::fork();
    if (child_ != 0) return;
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  ~Background() {
    if (!is_running()) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  [[nodiscard]] bool is_running() {
    if (!status_) {
      int status = 0;
      if (::waitpid(child_, &status, WNOHANG) == child_) status_ = status;
    }
    return !status_.has_value();
  }
  void signal(int number) const { ::kill(child_, number); }
  // Waits for the end, for two minutes at most. Returns the status that waitpid() gives.
  [[nodiscard]] int wait() {
    EXPECT_TRUE(comes_true([this] { return !is_running(); })) << "it does not end: " << err();
    return status_.value_or(-1);
  }
  [[nodiscard]] pid_t process() const { return child_; }
  // The processes that it has started and that still run.
  [[nodiscard]] std::vector<pid_t> children() const {
    const std::string id = std::to_string(child_);
    std::istringstream ids(read_file("/proc/" + id + "/task/" + id + "/children"));
    std::vector<pid_t> found;
    for (pid_t each = 0; ids >> each;) found.push_back(each);
    return found;
  }
  [[nodiscard]] std::string err() const { return is_there(err_) ? read_file(err_) : ""; }

 private:
  std::filesystem::path err_;
  pid_t child_ = -1;
  std::optional<int> status_;
};

}  // namespace pipedream
