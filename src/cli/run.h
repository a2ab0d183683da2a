// The command line as a function, so that tests can call it.
#pragma once

namespace pipedream::cli {

// Runs one command. Data goes to stdout, everything else to stderr. Returns the exit code:
//   0   success
//   1   training stopped
//   2   wrong usage
//   65  the content of a file is bad
//   69  a worker was lost
//   70  a bug in this program
//   74  input or output failed
//   78  a valid request that cannot be met
// A signal that ends the process prints a line first (cli/interrupt.h).
[[nodiscard]] int run(int count, const char* const* arguments);

}  // namespace pipedream::cli
