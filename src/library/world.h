// Doing things in all processes of a world at once.
#pragma once

#include <functional>
#include <string>

#include "library/handles.h"
#include "runtime/failure.h"

namespace pipedream::library {

// MPI of that world; null where there is none, or no world.
[[nodiscard]] transport::MpiWorld* mpi_of(World* world);

// What `make` returns in the first process, in all of them.
[[nodiscard]] std::string made_by_first(transport::MpiWorld& mpi,
                                        const std::function<std::string()>& make);

// Runs an action that all processes run alike: when it fails in one, all throw that failure. What
// is thrown is one of our own kinds, whatever code of others threw.
template <class Action>
auto run_together(World* world, Action action) {
  transport::MpiWorld* mpi = mpi_of(world);
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
