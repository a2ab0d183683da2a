// A digest of a program, by which a training that goes on knows its model again.
#pragma once

#include <string>

#include "pt2/program.h"

namespace pipedream::pt2 {

// A checksum of what the program computes: its calls with all arguments, and its inputs. Two
// exports of one model have the same; names of results, line numbers and weights do not matter.
[[nodiscard]] std::string digest_of(const Program& program);

}  // namespace pipedream::pt2
