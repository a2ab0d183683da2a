#include <algorithm>
#include <array>
#include <string_view>

#include "cli/run.h"
#include "model/keep_memory.h"

namespace {

bool computes(std::string_view command) {
  constexpr std::array<std::string_view, 3> kThese{"profile", "train", "compare"};
  return std::find(kThese.begin(), kThese.end(), command) != kThese.end();
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && computes(arguments[1])) pipedream::model::keep_memory(arguments);
  return pipedream::cli::run(count, arguments);
}
