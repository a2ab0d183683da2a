// The command line as a function, so that tests can call it.
#pragma once

namespace pipedream::cli {

// Runs one command. Data goes to stdout, everything else to stderr. Returns the exit code:
// 0 done · 1 training stopped · 2 usage · 65 a file's content is bad · 69 a worker was lost · 70 a
// bug of ours · 74 input or output failed · 78 a valid request that cannot be met. Signals that end
// the process print a line before they do (cli/interrupt.h).
[[nodiscard]] int run(int count, const char* const* arguments);

}  // namespace pipedream::cli
