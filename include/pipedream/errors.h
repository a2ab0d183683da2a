// What pipedream throws when the world outside it fails; <pipedream/pipedream.h> includes it.
// Messages say what was wanted, what was found, and what to do. Names in backquotes are options, as
// fields of the options' structs have them: `batch`, `no_recompute`. (The command line spells these
// as flags: --no-recompute.)
#pragma once

#include <stdexcept>

namespace pipedream {

// The base of all. Thrown itself when code of the caller's own failed inside pipedream (a layer, a
// data set, a callback); the message says where.
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

// A call or a command line that makes no sense.
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
