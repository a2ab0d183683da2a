// The command line as a function, so that tests can call it.
#pragma once

namespace pipedream::cli {

// What run() returns (docs/errors.md).
enum ExitCode {
  kDone = 0,
  kStopped = 1,       // training stopped for a stated reason
  kUsage = 2,         // wrong usage
  kBadFile = 65,      // the content of a file is bad
  kWorkerLost = 69,   // a worker was lost
  kBug = 70,          // a bug in this program
  kIo = 74,           // input or output failed
  kInterrupted = 75,  // a signal stopped a training at a checkpoint
  kCannotMeet = 78    // a valid request that cannot be met
};

// Thrown by a command that has said all there is to say, and ends with this exit code.
struct EndedWith {
  int code = kDone;
};

// Runs one command. Data goes to stdout, everything else to stderr. Returns the exit code.
// A signal that ends the process prints a line first (cli/interrupt.h).
[[nodiscard]] int run(int count, const char* const* arguments);

}  // namespace pipedream::cli
