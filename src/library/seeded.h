// Random numbers for code that knows only libtorch's global generators.
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

#include "core/philox.h"

namespace pipedream::library {

// Runs `action` with the device's global generator seeded by the key, and restores it. One at a
// time in the whole process, so that the numbers depend on the key alone, whichever threads run.
// True where it drew any.
bool run_seeded(const RandomKey& key, at::Device device, const std::function<void()>& action);

}  // namespace pipedream::library
