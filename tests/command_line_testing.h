// Runs the program as a user does and returns its output. Only tests include this.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "cli/run.h"
#include "core/file.h"
#include "core/testing.h"

namespace pipedream {

struct Answer {
  int code = -1;
  std::string out;
  std::string err;
};

// The path of a file `name` in a temporary folder. The folder is shared by all tests of this test
// program and removed at its end.
inline std::filesystem::path scratch(const std::string& name) {
  static const test::TemporaryFolder folder;
  return folder.path() / name;
}

inline Answer answer_of(int status) {
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(scratch("out")),
          read_file(scratch("err"))};
}

// Runs the program itself, as a shell command. `launcher` is put before it, such as mpirun.
inline Answer call_with(const std::string& launcher, const std::string& arguments) {
  return answer_of(std::system((launcher + PD_PROGRAM " " + arguments + " >'" +
                                scratch("out").string() + "' 2>'" + scratch("err").string() + "'")
                                   .c_str()));
}

// Runs the command line in the child process that call() has forked.
[[noreturn]] inline void run_as_child(const wordexp_t& words) {
  const auto redirect = [](const std::string& name, int stream) {
    const int file = ::open(scratch(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ::dup2(file, stream) < 0) ::_exit(127);
  };
  redirect("out", STDOUT_FILENO);
  redirect("err", STDERR_FILENO);
  const int code = cli::run(static_cast<int>(words.we_wordc), words.we_wordv);
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(code);  // no destructors: the temporary folder belongs to the parent
}

// Runs a command line in a forked process. The child already has libtorch in memory. Loading it
// takes the real program longer than most of the commands in these tests.
inline Answer call(const std::string& arguments) {
  wordexp_t words{};
  if (::wordexp(("pipedream " + arguments).c_str(), &words, WRDE_NOCMD | WRDE_UNDEF) != 0)
    throw std::runtime_error("these are no words of a command line: " + arguments);
  (void)scratch("");  // this process must create the folder, not the child
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) run_as_child(words);
  ::wordfree(&words);
  int status = -1;
  if (child < 0 || ::waitpid(child, &status, 0) != child)
    throw std::runtime_error("no process could be made");
  return answer_of(status);
}

inline std::string write(const std::string& name, const std::string& content) {
  write_file_atomically(scratch(name), content);
  return scratch(name).string();
}

// The number of lines that begin with "pipedream: ", as error messages do. A measurement may log
// its progress before it fails.
inline std::ptrdiff_t messages(const std::string& text) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = 0; (at = text.find("pipedream: ", at)) != std::string::npos; ++at)
    count += at == 0 || text[at - 1] == '\n' ? 1 : 0;
  return count;
}

// Replaces line breaks and repeated spaces by one space each. Help texts may break lines anywhere.
inline std::string on_one_line(std::string text) {
  for (char& c : text) c = c == '\n' ? ' ' : c;
  text.erase(
      std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
      text.end());
  return text;
}

struct Failure {
  std::string arguments;
  int code;
  std::string message;
};

// Expects each command line to fail with its exit code, exactly one message, and nothing on stdout.
inline void expect_all(const std::vector<Failure>& failures) {
  for (const Failure& failure : failures) {
    const Answer answer = call(failure.arguments);
    EXPECT_EQ(answer.code, failure.code) << failure.arguments << "\n" << answer.err;
    EXPECT_EQ(answer.out, "") << failure.arguments;
    EXPECT_EQ(messages(answer.err), 1) << failure.arguments << "\n" << answer.err;
    EXPECT_NE(answer.err.find(failure.message), std::string::npos) << failure.arguments << "\n"
                                                                   << answer.err;
  }
}

inline const std::string kSmall = PD_SOURCE_DIR "/examples/profiles/small.graph.txt";

}  // namespace pipedream
