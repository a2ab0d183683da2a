// Is a schedule runnable? A bad one is data, not an exception: tests and the command line show the
// whole list of what is wrong.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "schedule/ops.h"

namespace pipedream::schedule {

struct Violation {
  WorkerId worker;
  std::size_t op_index = 0;  // in the worker's program; its length for what is missing at the end
  std::string what;
  friend bool operator==(const Violation&, const Violation&) = default;
};

// Empty means runnable:
//  1. every Recv has its Send and every Send its Recv, and no worker waits for ever even if each
//     Send blocks until received;
//  2. each Forward is followed by exactly one Backward of its stage and item on the same worker,
//     and that uses the weight version of its forward;
//  3. each weight version exists when it is used: 0 from the start, others from their Update on,
//     until no forward that began on it awaits its backward and a newer one exists;
//  4. each Update starts from the newest version and follows the backwards it applies, and each
//     backward is applied by exactly one.
// Which values a stage must load, receive and send only graph and plan can tell: that these ops are
// there, and beside their compute ops, is lower()'s promise and is not checked here.
[[nodiscard]] std::vector<Violation> validate(std::span<const Program> programs);

}  // namespace pipedream::schedule
