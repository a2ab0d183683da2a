// Runs a network layer by layer and measures each layer's cost.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include <c10/core/Device.h>

#include "model/network.h"
#include "model/precision.h"
#include "profile/profile.h"
#include "profiler/update.h"

namespace pipedream::profiler {

struct ProfileOptions {
  at::Device device{at::kCPU};
  model::Precision precision = model::Precision::kFloat;
  int threads = 1;  // for operations of libtorch on CPU; set for the whole process
  std::uint64_t seed = 0;
  // Passes are repeated until the figures are stable or this is used up. The first is the warm-up,
  // and at least one more follows; only where the first is longer than all of this it has to do.
  std::chrono::duration<double> budget{20};
  // Called now and then with the share done (0 … 1) and what is being done.
  std::function<void(double share, const std::string& what)> progress = [](double,
                                                                           const std::string&) {};
  // Makes what is timed as the layers' updates; empty: they stay 0. Nobody restores the weights:
  // let it do the work of a step without moving them far, so that what is measured last is still
  // the same network. Called once for each model that runs.
  std::function<Update()> make_update;
  // How many workers will compute on this machine at once: the others run the same model meanwhile,
  // since cores share caches and memory, and a layer takes longer in company.
  int workers = 1;
};

// The profile of the network for its batch. Each layer's forward, backward and update is the median
// over passes that run layer after layer, as training does; Profile::whole is the median over
// passes of the whole model, taken in turn with them so that both see the same machine. Then come
// passes layer after layer with an eighth of the minibatch, at least two samples, the others'
// company too, from which follows what of each forward and backward is fixed; with a minibatch of
// two that is not known.
// Throws CannotMeet when the device does not exist or its memory does not suffice.
[[nodiscard]] profile::Profile profile_network(const model::Network& network,
                                               const ProfileOptions& options);

}  // namespace pipedream::profiler
