// Calling the program as a user does. Only tests include this.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "core/file.h"
#include "core/testing.h"

namespace pipedream {

struct Answer {
  int code = -1;
  std::string out;
  std::string err;
};

// One folder for the whole program, gone at its end.
inline std::filesystem::path scratch(const std::string& name) {
  static const test::TemporaryFolder folder;
  return folder.path() / name;
}

// `launcher`: what stands before the program.
inline Answer call_with(const std::string& launcher, const std::string& arguments) {
  const auto out = scratch("out").string();
  const auto err = scratch("err").string();
  const int status = std::system(
      (launcher + PD_PROGRAM " " + arguments + " >'" + out + "' 2>'" + err + "'").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

inline Answer call(const std::string& arguments) { return call_with("", arguments); }

inline std::string write(const std::string& name, const std::string& content) {
  write_file_atomically(scratch(name), content);
  return scratch(name).string();
}

// Lines that begin as our messages do; a measurement may log its progress before it fails.
inline std::ptrdiff_t messages(const std::string& text) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = 0; (at = text.find("pipedream: ", at)) != std::string::npos; ++at)
    count += at == 0 || text[at - 1] == '\n' ? 1 : 0;
  return count;
}

// A help text, whose lines may be broken anywhere.
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

// Each has its exit code, one message, and nothing on stdout.
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
