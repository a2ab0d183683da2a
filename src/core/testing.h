// What the tests of all modules share: messages of errors, a folder that cleans up after itself,
// and the examples out of the documents. Only *_test.cpp files include this.
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

// Under a sanitizer everything takes some four times as long: tests then go through fewer cases.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// The message of the E that `action` throws; where it throws none, or another, the test fails.
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

// A fresh folder, removed with all it holds at the end.
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
  // The names in the folder, sorted.
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

// The contents of the blocks ```language … ``` of a Markdown text, in order.
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

// Tests that need shared profiles are skipped, with a line, where there are none.
class WithSharedProfiles : public testing::Test {
 protected:
  void SetUp() override {
    if (std::filesystem::is_directory(shared_profiles())) return;
    std::printf("skipped: there is no folder %s\n", shared_profiles().c_str());
    GTEST_SKIP();
  }
};

}  // namespace pipedream::test
