// A digest of a program, by which a training that goes on knows its model again.
#pragma once

#include <string>

#include "pt2/program.h"

namespace pipedream::pt2 {

// A checksum of the program's calls, their arguments, and its inputs. The values of weights and
// constants, the names of results, and line numbers do not count.
[[nodiscard]] std::string digest_of(const Program& program);

}  // namespace pipedream::pt2
