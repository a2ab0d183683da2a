// Command lines and files that the tests of `pipedream train` share. Only *_test.cpp files include
// this.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "command_line_testing.h"

namespace pipedream {

inline const std::string kMlp =
    "train --model mlp --inputs 20 --hidden 16 --batch 16 --profile-seconds 0.2 ";

inline nlohmann::json json_of(const Answer& answer) {
  EXPECT_EQ(answer.code, 0) << answer.err;
  return nlohmann::json::parse(answer.out, nullptr, /*allow_exceptions=*/false);
}

inline std::string mpirun(int processes) {
  return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " PD_MPIRUN
         " --oversubscribe --bind-to none -n " +
         std::to_string(processes) + " ";
}

// Writes a cluster file with one level per entry of `counts` and returns its path.
inline std::string cluster_of(const std::string& name, const std::vector<int>& counts) {
  std::string text = "format = \"pipedream-cluster\"\nversion = 1\nname = \"" + name + "\"\n";
  for (std::size_t k = 0; k < counts.size(); ++k)
    text += "[[level]]\nname = \"level " + std::to_string(k) +
            "\"\ncount = " + std::to_string(counts[k]) +
            "\nbandwidth = \"1GB/s\"\nlatency = \"1us\"\n";
  return write(name + ".toml", text + "[device]\nmemory = \"1GiB\"\n");
}

inline std::string mlp_profile() {
  const std::string file = scratch("mlp_profile.json").string();
  EXPECT_EQ(
      call("profile --model mlp --inputs 20 --hidden 16 --batch 16 --seconds 0.1 -o " + file).code,
      0);
  return file;
}

}  // namespace pipedream
