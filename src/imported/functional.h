// Makes the calls of a program safe to be divided among layers. Layers must not write into what
// they are given, and a value that one layer changes must not be seen by another under a second
// name.
#pragma once

#include <string>
#include <vector>

#include "pt2/program.h"

namespace pipedream::imported {

// Calls from `first` up to and with `last`, numbers in Program::calls, that must be in one layer.
struct Together {
  std::size_t first = 0;
  std::size_t last = 0;
};

struct SafeProgram {
  pt2::Program program;
  std::vector<Together> together;  // ascending, without overlaps
  // For each tensor of the program: whether it is a buffer that calls write into.
  std::vector<bool> is_written;
};

// Returns the program with other calls of the same meaning:
//  1. Calls that write into an argument become calls that return a new tensor, wherever no other
//     name of the argument's memory is used later. Where one is, the calls concerned stay together.
//  2. Buffers are written by calls that stay together with all other calls that use the buffer, or
//     at the end of a layer (Program::new_buffers).
//  3. Calls whose results nobody uses, and calls that only check sizes, are gone.
//  4. Names of one and the same stored weight (`same`, by tensor) have become one.
// Requires that all operators are known to libtorch. Throws CannotMeet if a call writes into a
// parameter.
[[nodiscard]] SafeProgram make_safe(pt2::Program program, const std::vector<pt2::TensorId>& same,
                                    const std::string& file);

}  // namespace pipedream::imported
