// Reproducible random numbers for users' code, which draws from libtorch's global generators.
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

#include "core/philox.h"

namespace pipedream::library {

// Runs `action` while the global generator of `device` is seeded with `key`, then restores the
// generator's state. Returns whether `action` drew any random numbers. May be called from several
// threads: only one action runs at a time in the whole process, so that the numbers depend on `key`
// alone. Throws BadUsage if `action` itself calls run_seeded, and whatever `action` throws.
bool run_seeded(const RandomKey& key, at::Device device, const std::function<void()>& action);

}  // namespace pipedream::library
