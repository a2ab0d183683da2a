#include "runtime/gpu_channel.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/log.h"
#include "runtime/tags.h"
#include "runtime/tensor_message.h"
#include "transport/nccl.h"

namespace pipedream::runtime {
namespace {

using transport::Message;
using transport::Transport;

Message message_with(const NcclOffer& offer) {
  return {{static_cast<std::int64_t>(offer.device.type()), offer.device.index(), offer.host,
           offer.has_nccl ? 1 : 0},
          {},
          nullptr};
}

NcclOffer to_offer(const Message& message) {
  return {{static_cast<at::DeviceType>(message.header.at(0)),
           static_cast<c10::DeviceIndex>(message.header.at(1))},
          static_cast<int>(message.header.at(2)),
          message.header.at(3) != 0};
}

}  // namespace

std::string why_not_nccl(const std::vector<NcclOffer>& by_worker) {
  std::map<std::pair<int, int>, std::size_t> taken;  // by host and device number: the worker
  for (std::size_t worker = 0; worker < by_worker.size(); ++worker) {
    const NcclOffer& offer = by_worker[worker];
    const std::string name = "worker " + std::to_string(worker);
    if (!offer.device.is_cuda()) return name + " is on " + offer.device.str();
    if (!offer.has_nccl) return name + " has a build without NCCL";
    const auto [other, is_new] = taken.emplace(std::pair(offer.host, offer.device.index()), worker);
    if (!is_new)
      return "workers " + std::to_string(other->second) + " and " + std::to_string(worker) +
             " share " + offer.device.str() + " of a machine";
  }
  return "";
}

bool agree_on_nccl(Transport& control, const NcclOffer& mine) {
  const WorkerId master{0};
  if (control.me() != master) {
    control.send(master, kNccl, message_with(mine));
    return next_message(control, master, kNccl, kPatienceAtStart).header.at(0) != 0;
  }
  std::vector<NcclOffer> offers{mine};
  for (int w = 1; w < control.workers(); ++w)
    offers.push_back(to_offer(next_message(control, {w}, kNccl, kPatienceAtStart)));
  const std::string obstacle = why_not_nccl(offers);
  for (int w = 1; w < control.workers(); ++w)
    control.send({w}, kNccl, {{obstacle.empty() ? 1 : 0}, {}, nullptr});
  const auto has_gpu = [](const NcclOffer& offer) { return offer.device.is_cuda(); };
  if (offers.size() > 1 && std::any_of(offers.begin(), offers.end(), has_gpu))
    log_info("values and gradients go from GPU to GPU by " +
             (obstacle.empty() ? "NCCL" : "way of the host: " + obstacle));
  return obstacle.empty();
}

std::unique_ptr<transport::Lanes> nccl_lanes(at::Device mine) {
  return transport::make_nccl_lanes(
      {.device = mine.index(), .allocate = memory_to_receive_into(mine)});
}

}  // namespace pipedream::runtime
