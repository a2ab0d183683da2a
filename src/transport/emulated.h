// A slower network than the one that is there, so that one machine can rehearse a cluster: wraps
// the endpoints of another transport and holds messages back as links of a given speed would.
//
//   sender    send        ├── bytes / bandwidth ──┤                 one message after another
//   receiver                                      └── latency ──▶ wait() returns
//
// The sender writes the time of arrival into the message, the receiver sleeps until then. So the
// clocks of all workers must be one: threads or processes of one machine.
#pragma once

#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "core/units.h"
#include "transport/transport.h"

namespace pipedream::transport {

// The link by which each worker's messages leave. Workers of one `shared` group (of one host, say)
// leave by one link between them, which works within one process only; messages inside a group, or
// to oneself, use no link and are not held back. Only a message's bytes count, not its header.
struct Links {
  double bytes_per_second = std::numeric_limits<double>::infinity();  // above 0
  Nanos latency{0};
  std::vector<std::vector<WorkerId>> shared;
};

// What is under way on those links. Thread-safe: all endpoints, and all channels of a worker, that
// are given the same one share its bandwidth.
class LinkQueues {
 public:
  LinkQueues(const Links& links, int workers);

  // Puts a message on the sender's link at `now`; when it will be there.
  [[nodiscard]] Deadline arrival(WorkerId from, WorkerId to, std::size_t bytes, Deadline now);

 private:
  double bytes_per_second_;
  Nanos latency_;
  std::vector<std::size_t> link_of_;  // by worker
  std::mutex mutex_;
  std::vector<Deadline> free_from_;  // by link
};

// The contract of `inner`, late.
[[nodiscard]] std::unique_ptr<Transport> connect_emulated(std::unique_ptr<Transport> inner,
                                                          std::shared_ptr<LinkQueues> queues);
[[nodiscard]] std::vector<std::unique_ptr<Transport>> connect_emulated(
    std::vector<std::unique_ptr<Transport>> inner, const std::shared_ptr<LinkQueues>& queues);

}  // namespace pipedream::transport
