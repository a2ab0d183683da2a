// Emulates a slower network than the real one, so that one machine can rehearse a cluster (`--link`
// in docs/runtime.md). Wraps the endpoints of another transport and delays messages as links of a
// given speed would.
//
//   sender    send        ├── bytes / bandwidth ──┤                 one message after another
//   receiver                                      └── latency ──▶ wait() returns
//
// The sender writes the time of arrival into the message, and the receiver sleeps until then. So
// all workers must read the same clock: they are threads or processes of one machine.
#pragma once

#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "core/units.h"
#include "transport/transport.h"

namespace pipedream::transport {

// The links by which messages leave the workers. Each worker has a link of its own, except that the
// workers of a group in `shared` (those of one host, say) share one link. Sharing works only
// between workers of one process. Messages within a group, or from a worker to itself, use no link
// and are not delayed. Only a message's bytes take time on a link, not its header.
struct Links {
  double bytes_per_second = std::numeric_limits<double>::infinity();  // of each link; above 0
  Nanos latency{0};                           // added to each message that uses a link
  std::vector<std::vector<WorkerId>> shared;  // groups of workers that share a link
};

// Knows until when each of the links is busy. All endpoints that are given the same LinkQueues
// share its bandwidth, also endpoints of different channels of one worker. Thread-safe.
class LinkQueues {
 public:
  LinkQueues(const Links& links, int workers);

  // Puts a message of `bytes` bytes on the link of `from` at time `now`. Returns when it arrives.
  [[nodiscard]] Deadline arrival(WorkerId from, WorkerId to, std::size_t bytes, Deadline now);

 private:
  double bytes_per_second_;
  Nanos latency_;
  std::vector<std::size_t> link_of_;  // by worker: index into `free_from_`
  std::mutex mutex_;                  // guards `free_from_`
  std::vector<Deadline> free_from_;   // by link: when it has sent everything that is queued
};

// Wraps one endpoint, or the endpoints of several workers. The result keeps the contract of
// `inner`, but messages arrive later, and send() blocks until a device has written the bytes.
[[nodiscard]] std::unique_ptr<Transport> connect_emulated(std::unique_ptr<Transport> inner,
                                                          std::shared_ptr<LinkQueues> queues);
[[nodiscard]] std::vector<std::unique_ptr<Transport>> connect_emulated(
    std::vector<std::unique_ptr<Transport>> inner, const std::shared_ptr<LinkQueues>& queues);

}  // namespace pipedream::transport
