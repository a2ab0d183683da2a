#include "runtime/devices.h"

#include <map>

#include "model/device.h"

namespace pipedream::runtime {

std::vector<at::Device> devices_of_workers(at::Device asked, const std::vector<int>& host_of) {
  std::map<int, int> on_host;  // workers so far
  std::vector<at::Device> devices;
  for (const int host : host_of) devices.push_back(model::device_of_worker(asked, on_host[host]++));
  return devices;
}

}  // namespace pipedream::runtime
