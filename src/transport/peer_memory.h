// Reads of other workers' memory, in place of messages with its content. Workers of one process can
// read each other's memory, and so can processes of one host where the system allows it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "transport/transport.h"

namespace pipedream::transport {

// Made by a backend, and used by the thread that uses the endpoint.
class PeerMemory {
 public:
  virtual ~PeerMemory() = default;

  // Whether `other` and this worker can read each other's memory. Both get the same answer.
  [[nodiscard]] virtual bool can_read(WorkerId other) const = 0;

  // Returns a message that tells other workers where `values` are. Within one process it holds
  // `owner`, which keeps the values alive.
  [[nodiscard]] virtual Message offer(std::span<const float> values,
                                      std::shared_ptr<const void> owner) const = 0;

  // Returns the values with the indices `first` … `first + into.size() − 1` of those that `offer`,
  // a message from worker `from`, tells of. The result is in that worker's own memory, or in
  // `into`. Nobody may write to these values meanwhile. Throws WorkerLost if they cannot be read.
  [[nodiscard]] virtual std::span<const float> read(WorkerId from, const Message& offer,
                                                    std::size_t first,
                                                    std::span<float> into) const = 0;
};

}  // namespace pipedream::transport
