// A fixture with small models that PyTorch exported. Only *_test.cpp files include this.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "core/testing.h"

namespace pipedream::test {

// The models of tests/reference/export_with_dropout.py, exported once for all tests of a suite. The
// tests are skipped if PD_PYTHON has no torch.
class ExportedModels : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    const std::string command = std::string(PD_PYTHON) +
                                " -W ignore '" PD_SOURCE_DIR
                                "/tests/reference/export_with_dropout.py' '" +
                                folder_->path().string() + "'";
    status_ = std::system(command.c_str());
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    constexpr int kNotInstalled = 77;
    ASSERT_TRUE(WIFEXITED(status_)) << "the export was ended by a signal";
    if (WEXITSTATUS(status_) == kNotInstalled)
      GTEST_SKIP() << "torch is not installed for " << PD_PYTHON;
    ASSERT_EQ(WEXITSTATUS(status_), 0) << "the export failed";
  }
  // The path of a file, such as "gpt.pt2".
  static std::filesystem::path file(const std::string& name) { return folder_->path() / name; }

 private:
  static inline std::unique_ptr<TemporaryFolder> folder_;
  static inline int status_ = -1;
};

}  // namespace pipedream::test
