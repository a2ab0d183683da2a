#include "train/this_machine.h"

#include "cluster/local.h"
#include "core/error.h"
#include "model/device.h"

namespace pipedream::train {

cluster::Cluster this_machine_for(const profile::Profile& profile, int workers,
                                  const std::optional<Bandwidth>& link) {
  if (profile.device.empty()) return cluster::this_machine(workers, link);
  const at::Device any_of_its_kind(model::device_named(profile.device).type());
  try {
    return cluster::this_machine(workers, link, model::memory_of_worker(any_of_its_kind, workers));
  } catch (const CannotMeet&) {
    throw CannotMeet(
        "the profile was measured on a GPU, and this machine has none: give a `cluster` instead of "
        "a number of `workers`");
  }
}

}  // namespace pipedream::train
