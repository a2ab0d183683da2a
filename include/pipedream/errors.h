// The exceptions of pipedream. <pipedream/pipedream.h> includes this file.
// Messages say what was wanted, what was found, and what to do. Names in backquotes are options: a
// field of an options struct, such as `microbatches`, or an argument, such as `batch`. One differs:
// `no_recompute` is PlanOptions::recompute = false. (The command line spells options as flags.)
#pragma once

#include <stdexcept>

namespace pipedream {

// The base of all exceptions of pipedream. An Error that is of no derived class means that code of
// the caller (a layer, a data set, a callback) failed while pipedream ran it. The message says
// where.
struct Error : std::runtime_error {
  using runtime_error::runtime_error;
};

// A text that cannot be read as the value that was wanted, such as "12x" for a number. Thrown where
// it is not known which file or flag the text came from.
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
