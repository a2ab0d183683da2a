// Lets the processes of an MPI world act as one: a check that fails in one process fails in all, a
// text that the first process makes reaches all, and a failure of one process is thrown in all. The
// command line and the library both use this.
//
// All processes must call these functions in the same order. If `world` is null there is one
// process, and the functions just call what they are given. All exceptions that leave these
// functions are of the Error family (core/error.h), whatever a user's code threw.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/failure.h"
#include "transport/mpi.h"

namespace pipedream::train {

// Calls `check` in every process. If it throws in any, all processes throw what the process of the
// lowest rank threw. The world can still be used then.
void agree(transport::MpiWorld* world, const std::function<void()>& check);

// Returns in all processes what `make` returns in the first one; the others do not call it. If it
// throws, all processes throw the same, and the world can still be used.
[[nodiscard]] std::string made_by_first(transport::MpiWorld* world,
                                        const std::function<std::string()>& make);

// Returns in the first process what each process passes as `own`, by rank; in the others, nothing.
[[nodiscard]] std::vector<std::string> gathered_by_first(transport::MpiWorld& world,
                                                         const std::string& own);

// Calls `action` in every process and returns its result. If it throws in one process, the world is
// aborted, so that the others stop waiting, and all throw that failure. The world cannot be used
// again then.
template <class Action>
auto run_together(transport::MpiWorld* world, Action action) {
  try {
    return action();
  } catch (const transport::Aborted& aborted) {
    if (world != nullptr) world->abort(aborted.what());
    runtime::throw_reason(aborted.what());
  } catch (...) {
    if (world != nullptr) world->abort(runtime::to_reason(std::current_exception()));
    runtime::rethrow_at("");
  }
}

}  // namespace pipedream::train
