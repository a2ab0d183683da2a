// Where tests and benchmarks find data that is not part of this project: beside it, or in the
// folder that PD_SHARED_DATA names. Those that need it do without where it is absent.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace pipedream::test {

[[nodiscard]] inline std::filesystem::path shared_data() {
  const char* data = std::getenv("PD_SHARED_DATA");
  return data != nullptr ? data : PD_SOURCE_DIR "/../shared/data";
}

// The layer profiles that PipeDream's authors measured, in their graph text.
[[nodiscard]] inline std::filesystem::path shared_profiles() { return shared_data() / "profiles"; }

}  // namespace pipedream::test
