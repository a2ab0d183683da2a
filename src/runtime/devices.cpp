#include "runtime/devices.h"

#include <map>

#include "model/device.h"

namespace pipedream::runtime {

Computing choose_computing(const ComputingNames& asked, const ComputingNames& planned) {
  const auto first = [](const std::string& one, const std::string& other,
                        const std::string& otherwise) {
    return !one.empty() ? one : !other.empty() ? other : otherwise;
  };
  const Computing chosen{model::device_named(first(asked.device, planned.device, "cpu")),
                         model::precision_named(first(asked.precision, planned.precision, "fp32"))};
  model::require_device(chosen.device);
  model::choose_fast_convolutions(chosen.device);
  return chosen;
}

std::vector<at::Device> devices_of_workers(at::Device asked, const std::vector<int>& host_of) {
  std::map<int, int> on_host;  // by machine: its workers so far
  std::vector<at::Device> devices;
  for (const int host : host_of) devices.push_back(model::device_of_worker(asked, on_host[host]++));
  return devices;
}

}  // namespace pipedream::runtime
