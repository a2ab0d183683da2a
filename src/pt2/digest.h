// A digest of a program. A resumed training compares it with the checkpoint's digest.
#pragma once

#include <string>

#include "pt2/program.h"

namespace pipedream::pt2 {

// A checksum of the program's calls, their arguments, and its inputs. The values of weights and
// constants, the names of results, and line numbers do not count.
[[nodiscard]] std::string digest_of(const Program& program);

}  // namespace pipedream::pt2
