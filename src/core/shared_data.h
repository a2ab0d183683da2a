// Where tests and benchmarks find data that is not part of this project. Tests and benchmarks that
// need the data are skipped, or do without it, if it is absent.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace pipedream::test {

// Returns the folder that the environment variable PD_SHARED_DATA names, by default ../shared/data
// beside this repository.
[[nodiscard]] inline std::filesystem::path shared_data() {
  const char* data = std::getenv("PD_SHARED_DATA");
  return data != nullptr ? data : PD_SOURCE_DIR "/../shared/data";
}

// Returns the folder with the layer profiles that PipeDream's authors measured, in their graph text
// (docs/formats.md#graph-text).
[[nodiscard]] inline std::filesystem::path shared_profiles() { return shared_data() / "profiles"; }

}  // namespace pipedream::test
