// Doing things in all processes of a world at once.
#pragma once

#include <functional>
#include <string>

#include "library/handles.h"
#include "runtime/failure.h"

namespace pipedream::library {

// MPI of that world; null where there is none, or no world.
[[nodiscard]] transport::MpiWorld* mpi_of(World* world);

// What is thrown by the following is one of our own kinds, whatever code of others threw. All
// processes call the same in the same order.

// Each process looks at what it has: when it refuses in any, all throw the refusal of the lowest
// rank. The world can be used again then. Alone where `mpi` is null.
void agree(transport::MpiWorld* mpi, const std::function<void()>& check);

// What `make` returns in the first process, in all of them; or all throw what it threw there, and
// the world can be used again.
[[nodiscard]] std::string made_by_first(transport::MpiWorld* mpi,
                                        const std::function<std::string()>& make);

// Runs an action that all processes run alike: when it fails in one, all throw that failure. The
// world is of no use then.
template <class Action>
auto run_together(transport::MpiWorld* mpi, Action action) {
  try {
    return action();
  } catch (const transport::Aborted& aborted) {
    runtime::throw_reason(aborted.what());
  } catch (...) {
    if (mpi != nullptr) mpi->abort(runtime::to_reason(std::current_exception()));
    runtime::rethrow_at("");
  }
}

}  // namespace pipedream::library
