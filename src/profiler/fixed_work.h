// The same computation on any device, to compare the speed of devices.
#pragma once

#include <functional>

#include <c10/core/Device.h>

namespace pipedream::profiler {

// Returns a function that computes a convolution and a matrix product of fixed sizes on `device`,
// and returns when they are done. It takes about 20 ms on one core, and more work is done on a GPU.
// Used by the thread that has called it first.
[[nodiscard]] std::function<void()> fixed_work(at::Device device);

}  // namespace pipedream::profiler
