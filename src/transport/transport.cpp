#include "transport/transport.h"

#include <thread>

namespace pipedream::transport {

void wait_until(const Readiness& is_ready) {
  constexpr std::chrono::microseconds kNap{20};
  if (!is_ready) return;
  while (!is_ready()) std::this_thread::sleep_for(kNap);
}

void sleep_until(Transport& transport, Deadline time) {
  try {
    (void)transport.wait(transport.receive(transport.me(), kSleepTag), time);
  } catch (const Aborted&) {
    throw;
  } catch (const WorkerLost&) {  // nothing came until `time`: slept long enough
  }
}

}  // namespace pipedream::transport
