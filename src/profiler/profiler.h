// Measures what each layer of a network costs (ARCHITECTURE.md, Profiles; docs/formats.md,
// Profile).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include <c10/core/Device.h>

#include "model/network.h"
#include "model/whole_model.h"
#include "profile/profile.h"
#include "profiler/update.h"

namespace pipedream::profiler {

struct ProfileOptions {
  at::Device device{at::kCPU};
  model::Precision precision = model::Precision::kFloat;
  int threads = 1;  // intra-op threads of libtorch on CPU; profiling sets them for the process
  std::uint64_t seed = 0;  // of weights, made-up inputs and dropout
  // Passes are repeated until their times are stable or this time is used up. The first pass is a
  // warm-up that does not count, and at least one more follows. Exception: if the first pass on a
  // CPU takes more than twice the budget, it counts, and no other follows.
  std::chrono::duration<double> budget{20};
  // Called now and then, on the caller's thread. Profiling has phases, such as "timing layers" and
  // "measuring memory", and `share` (0 … 1) is the part of the phase that is done.
  std::function<void(double share, const std::string& phase)> progress = [](double,
                                                                            const std::string&) {};
  // Makes the inputs of a minibatch. If empty, they are made up (model/sample_inputs.h), and a
  // network that computes with some values only, such as shares from 0 to 1, may fail.
  model::MakeInput make_input;
  // Makes the optimiser step that is timed as the layers' updates. If empty, these times are 0. The
  // profiler does not restore weights, so a step should do its usual work but hardly change them:
  // then the last pass still measures the same network. Called once for each of the `workers`
  // models, on the thread that runs the model.
  std::function<Update()> make_update;
  // The number of workers that will compute on this machine at once. While one is measured, the
  // others run the same model: cores share caches and memory, so a layer takes longer in company.
  int workers = 1;
  // Whether these workers get cores of their own on a CPU, as in training (docs/runtime.md: Cores).
  bool bind_cores = false;
};

// Measures the profile of a network for its batch size. The times of each layer's forward, backward
// and update are medians over passes that run layer by layer, in training's order. Profile::whole
// is the median over passes of the whole model, which alternate with them so that both meet the
// same conditions of the machine. Then come passes layer by layer with an eighth of the minibatch,
// but at least two samples; the other workers run such parts too. From them follow the fixed parts
// of times and of working memory, which are 0 (not known) for a minibatch of one or two samples.
//
// Throws CannotMeet if the device does not exist or its memory does not suffice, and what an update
// or another worker throws.
[[nodiscard]] profile::Profile profile_network(const model::Network& network,
                                               const ProfileOptions& options);

}  // namespace pipedream::profiler
