// Chooses the device and the precision that workers compute with (docs/gpu.md).
#pragma once

#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "model/precision.h"

namespace pipedream::runtime {

// The device and the precision that a run computes with.
struct Computing {
  at::Device device{at::kCPU};  // without an index: any device of this kind
  model::Precision precision = model::Precision::kFloat;
};

// The names of a device and a precision, as flags and files have them. Empty if not given.
struct ComputingNames {
  std::string device;
  std::string precision;
};

// Each of device and precision is taken from `asked` (the user's flags) if it is given there, else
// from `planned` (the plan or profile), else it is the CPU and float. Prepares the device for use
// (model::prepare). Throws BadUsage for unknown names, and CannotMeet if there is no such device.
[[nodiscard]] Computing choose_computing(const ComputingNames& asked,
                                         const ComputingNames& planned);

// The device of each worker, for Job::devices. `host_of` has a number for each worker's machine;
// workers with equal numbers are on the same machine. If `asked` has no index, the workers of a
// machine take its devices in turn, and all machines are assumed to have the same number of
// devices. Throws CannotMeet if this machine has no such device.
[[nodiscard]] std::vector<at::Device> devices_of_workers(at::Device asked,
                                                         const std::vector<int>& host_of);

}  // namespace pipedream::runtime
