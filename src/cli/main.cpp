#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/interrupt.h"
#include "cli/run.h"
#include "model/keep_memory.h"

namespace {

// Whether the command trains or measures. The other commands end before memory matters.
bool computes(const std::vector<std::string_view>& words) {
  if (words.empty()) return false;
  if (words[0] == "compare") return std::find(words.begin(), words.end(), "--run") != words.end();
  if (words[0] == "cluster") return words.size() > 1 && words[1] == "probe";
  return words[0] == "profile" || words[0] == "train" || words[0] == "evaluate";
}

}  // namespace

int main(int count, char** arguments) {
  pipedream::cli::end_with_parent();
  if (computes({arguments + 1, arguments + count})) pipedream::model::keep_memory(arguments);
  return pipedream::cli::run(count, arguments);
}
