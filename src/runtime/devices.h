// What workers compute on.
#pragma once

#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "model/precision.h"

namespace pipedream::runtime {

// What a worker computes on, and in.
struct Computing {
  at::Device device{at::kCPU};  // without an index: any of its kind
  model::Precision precision = model::Precision::kFloat;
};

// The names of these; empty where nothing is said.
struct ComputingNames {
  std::string device;
  std::string precision;
};

// What is asked for goes before what a plan or a profile says; else the CPU, in float. The device
// is made ready. Throws BadUsage for unknown names, CannotMeet where there is no such device.
[[nodiscard]] Computing choose_computing(const ComputingNames& asked,
                                         const ComputingNames& planned);

// By worker, for Job::devices. `host_of` says by worker which machine it is on, in any numbers;
// where `asked` has no index, the workers of a machine take its devices in turn. Machines are taken
// to be equal. Throws CannotMeet where this one has no such device.
[[nodiscard]] std::vector<at::Device> devices_of_workers(at::Device asked,
                                                         const std::vector<int>& host_of);

}  // namespace pipedream::runtime
