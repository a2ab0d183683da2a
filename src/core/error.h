// Failures of the world outside the program. Each kind has its exit code, which cli/ alone knows
// (docs/errors.md). Bugs of our own are PD_CHECK's (core/check.h); expected outcomes are return
// values.
#pragma once

#include <stdexcept>

namespace pipedream {

struct Error : std::runtime_error {
  using runtime_error::runtime_error;
};

// A value that does not read as what was wanted, before it is known which file or flag it came
// from.
struct BadValue : Error {
  using Error::Error;
};

// A file's content is not what its format says; the message names file and place.
struct BadFile : Error {
  using Error::Error;
};

// A command line that cannot be understood.
struct BadUsage : Error {
  using Error::Error;
};

// Reading or writing failed: no such file, disk full, no permission.
struct IoError : Error {
  using Error::Error;
};

// A valid request that cannot be met: no device of that name, no plan within the memory.
struct CannotMeet : Error {
  using Error::Error;
};

// Training cannot go on for a reason of its own, such as a loss that is not finite.
struct TrainingStopped : Error {
  using Error::Error;
};

// A peer or a link died, or was waited for longer than its deadline.
struct WorkerLost : Error {
  using Error::Error;
};

}  // namespace pipedream
