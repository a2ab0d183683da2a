// Which device each worker computes on.
#pragma once

#include <vector>

#include <c10/core/Device.h>

namespace pipedream::runtime {

// By worker, for Job::devices. `host_of` says by worker which machine it is on, in any numbers;
// where `asked` has no index, the workers of a machine take its devices in turn. Machines are taken
// to be equal. Throws CannotMeet where this one has no such device.
[[nodiscard]] std::vector<at::Device> devices_of_workers(at::Device asked,
                                                         const std::vector<int>& host_of);

}  // namespace pipedream::runtime
