// A program that this one starts and waits for.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace pipedream::cli {

// A running program in a process group of its own, so that Ctrl-C does not reach it. It reads
// nothing from stdin, and gets SIGTERM if this process is killed. The destructor ends the whole
// group by SIGKILL if the program still runs. Used from one thread.
class Child {
 public:
  // `words` are the program, which is searched for in PATH, and its arguments. With `quiet` it
  // prints nothing. Throws IoError if no process can be made.
  explicit Child(const std::vector<std::string>& words, bool quiet = false);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The exit status as shells show it: 128 plus the number of a signal that ended the program, 127
  // if the program was not found. Not set while it runs.
  [[nodiscard]] std::optional<int> status();
  // Waits until it has ended, for at most `time`. Returns whether it has. A signal may end the wait
  // early.
  [[nodiscard]] bool ends_within(std::chrono::milliseconds time);
  void signal(int number) const;        // to the program
  void signal_group(int number) const;  // to the program and what it has started
  // To the processes of this machine that it has started and that run `program`.
  void signal_started(int number, const std::filesystem::path& program) const;

 private:
  pid_t process_ = -1;
  std::optional<int> status_;
};

}  // namespace pipedream::cli
