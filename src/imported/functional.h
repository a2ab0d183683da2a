// Makes the calls of a program safe to be divided among layers. Layers must not write into what
// they are given, and a value that one layer changes must not be seen by another under a second
// name.
#pragma once

#include <string>
#include <vector>

#include "pt2/program.h"

namespace pipedream::imported {

// The calls with indices `first` to `last` in Program::calls, both included, belong to one layer.
struct Together {
  std::size_t first = 0;
  std::size_t last = 0;
};

// What a program does with a tensor that is a buffer.
enum class BufferUse {
  kUnchanged,  // also of tensors that are no buffers
  kChanged,    // one call changes it, and no other call of the program reads it
  kState,      // it is changed, and read by calls besides the one that changes it
};

struct SafeProgram {
  pt2::Program program;
  std::vector<Together> together;  // ascending, without overlaps
  // For each tensor of the program.
  std::vector<BufferUse> uses;
};

// Returns the program with other calls of the same meaning:
//  1. Calls that write into an argument become calls that return a new tensor, wherever no other
//     name of the argument's memory is used later. Where one is, the calls concerned stay together.
//  2. Buffers are written by calls that stay together with all other calls that use the buffer, or
//     at the end of a layer (Program::new_buffers).
//  3. Calls whose results nobody uses, and calls that only check sizes, are gone.
//  4. Each tensor t is replaced by same[t], so that a tied weight has one name.
// Calls of operators that libtorch does not know stay as they are. Throws CannotMeet if a call
// writes into a parameter.
[[nodiscard]] SafeProgram make_safe(pt2::Program program, const std::vector<pt2::TensorId>& same,
                                    const std::string& file);

}  // namespace pipedream::imported
