// What the tests of all modules share: access to error messages, a temporary folder, and the
// examples in the documents. Only *_test.cpp files and their *_testing.h headers include this.
#pragma once

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/shared_data.h"

namespace pipedream::test {

// Whether a sanitizer is on. Everything then takes about four times as long, so tests run fewer
// cases.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Returns the message of the exception of type E that `action` throws. The test fails if `action`
// throws nothing or another exception.
template <class E, class Action>
[[nodiscard]] std::string message_of(Action action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of exception was thrown: " << error.what();
  }
  return {};
}

// Creates an empty temporary folder. The destructor removes it with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "pipedream-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Returns the names of the files in the folder, sorted.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::filesystem::path path_;
};

// Returns the contents of the fenced code blocks ```language … ``` of a Markdown text, in order.
[[nodiscard]] inline std::vector<std::string> fenced_blocks(std::string_view markdown,
                                                            std::string_view language) {
  const std::string opening = "\n```" + std::string(language) + "\n";
  std::vector<std::string> blocks;
  std::size_t at = 0;
  while ((at = markdown.find(opening, at)) != std::string_view::npos) {
    at += opening.size();
    const std::size_t end = markdown.find("\n```\n", at - 1);
    if (end == std::string_view::npos) throw std::runtime_error("a ``` block has no end");
    blocks.emplace_back(markdown.substr(at, end + 1 - at));
    at = end;
  }
  return blocks;
}

// A fixture for tests that need the shared profiles. It skips the test, with a message, if the
// folder of profiles does not exist.
class WithSharedProfiles : public testing::Test {
 protected:
  void SetUp() override {
    if (std::filesystem::is_directory(shared_profiles())) return;
    std::printf("skipped: there is no folder %s\n", shared_profiles().c_str());
    GTEST_SKIP();
  }
};

}  // namespace pipedream::test
