#include "runtime/gpu_channel.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/check.h"
#include "core/log.h"
#include "runtime/tensor_message.h"
#include "transport/by_lanes.h"
#include "transport/nccl.h"

namespace pipedream::runtime {

std::string why_not_nccl(const std::vector<at::Device>& devices, const std::vector<int>& hosts) {
  PD_CHECK(devices.size() <= hosts.size());
  std::map<std::pair<int, int>, std::size_t> taken;  // by host and number of the device
  for (std::size_t worker = 0; worker < devices.size(); ++worker) {
    const at::Device device = devices[worker];
    if (!device.is_cuda()) return "worker " + std::to_string(worker) + " is on " + device.str();
    const auto [other, is_new] = taken.emplace(std::pair(hosts[worker], device.index()), worker);
    if (!is_new)
      return "workers " + std::to_string(other->second) + " and " + std::to_string(worker) +
             " share " + device.str() + " of a machine";
  }
  return transport::has_nccl() ? "" : "this build has no NCCL";
}

std::unique_ptr<transport::Transport> between_gpus(std::unique_ptr<transport::Transport> channel,
                                                   const std::vector<at::Device>& devices,
                                                   const std::vector<int>& hosts) {
  const auto is_gpu = [](at::Device device) { return device.is_cuda(); };
  if (std::none_of(devices.begin(), devices.end(), is_gpu)) return channel;
  const std::string obstacle = why_not_nccl(devices, hosts);
  if (channel->me() == WorkerId{0})
    log_info(obstacle.empty() ? "values go from GPU to GPU by NCCL"
                              : "values go from GPU to GPU by way of the host: " + obstacle);
  if (!obstacle.empty()) return channel;
  const at::Device mine = devices.at(channel->me().index());
  return transport::connect_by_lanes(
      std::move(channel), transport::make_nccl_lanes(
                              {.device = mine.index(), .allocate = memory_to_receive_into(mine)}));
}

}  // namespace pipedream::runtime
