#include "train/this_machine.h"

#include "cluster/local.h"
#include "core/error.h"
#include "model/device.h"

namespace pipedream::train {

cluster::Cluster this_machine_for(const profile::Profile& profile, int workers) {
  if (profile.device.empty()) return cluster::this_machine(workers, std::nullopt);
  const at::Device any_of_its_kind(model::device_named(profile.device).type());
  try {
    return cluster::this_machine(workers, std::nullopt,
                                 model::memory_of_worker(any_of_its_kind, workers));
  } catch (const CannotMeet&) {
    throw CannotMeet(
        "the profile was measured on a GPU, and this machine has none: give a `cluster` instead of "
        "a number of `workers`");
  }
}

}  // namespace pipedream::train
