#include "transport/lanes.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

namespace pipedream::transport {

bool close_together(std::vector<std::unique_ptr<Lane>> lanes) {
  constexpr std::chrono::seconds kPatience{10};
  std::vector<std::future<void>> ended;
  for (std::unique_ptr<Lane>& lane : lanes) {
    std::packaged_task<void()> close([own = std::move(lane)]() mutable { own.reset(); });
    ended.push_back(close.get_future());
    std::thread(std::move(close)).detach();
  }
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  return std::all_of(ended.begin(), ended.end(), [&](const std::future<void>& one) {
    return one.wait_until(give_up) == std::future_status::ready;
  });
}

}  // namespace pipedream::transport
