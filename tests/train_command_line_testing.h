// What the tests of pipedream train call. Only *_test.cpp files include this.
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

inline std::string mlp_profile() {
  const std::string file = scratch("mlp_profile.json").string();
  EXPECT_EQ(
      call("profile --model mlp --inputs 20 --hidden 16 --batch 16 --seconds 0.1 -o " + file).code,
      0);
  return file;
}

}  // namespace pipedream
