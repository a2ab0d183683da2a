// Messages between two workers, timed.
#pragma once

#include "core/units.h"
#include "transport/transport.h"

namespace pipedream::probe {

// What one worker does with another.
struct Flow {
  WorkerId peer;
  bool sends = false;
  bool receives = false;
  // Whether the receiver copies each message once. A transport between threads hands memory over
  // without touching it, so its time would be 0 for any number of bytes.
  bool copies = false;
};

// How much one direction of a flow carries: messages of equal size.
struct Load {
  std::int64_t messages = 0;
  Bytes each;
  [[nodiscard]] Bytes bytes() const { return Bytes{messages * each.count}; }
};

// Returns the load of about `bytes` bytes: 16 messages or more, of at most 1 MiB, so that the time
// until the first arrives and that after the last was sent hardly count.
[[nodiscard]] Load load_of(Bytes bytes);

// Sends `load` to the peer, receives as much from it, or both at once. All messages are given to
// the transport at once, so that the link never waits for a worker. The peer calls it at the same
// time with the opposite flow. Returns the time from the call to the arrival of the last message; 0
// if it does not receive. Throws WorkerLost if nothing comes for too long.
[[nodiscard]] Nanos carry(transport::Transport& channel, const Flow& flow, const Load& load);

// Returns half of the time in which a message without content goes to the peer and back: the median
// of several times. The peer calls it at the same time; exactly one of the two `begins`, and gets
// the result. A pause before each message lets both sides come to rest, as between the messages of
// a training. Throws as carry().
[[nodiscard]] Nanos one_way_time(transport::Transport& channel, WorkerId peer, bool begins);

}  // namespace pipedream::probe
