// How the processes of an MPI world act as one: all refuse, or none; what the first one makes, all
// have; what fails in one, fails in all. The command line and the library both use this.
//
// All processes must call these functions in the same order. Where `world` is null there is one
// process, and the functions just call what they are given. Exceptions that they let out are of our
// own kinds (core/error.h), whatever a user's code threw.
#pragma once

#include <functional>
#include <string>

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

// Calls `action` in every process. If it throws in one, the world is aborted, so that the others
// leave their waits, and all throw that failure. The world is of no use then.
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
