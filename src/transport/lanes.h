// Connections between the memories of devices that bypass the host: NCCL communicators (nccl.h) or,
// for tests, the host's memory in their place (lanes_testing.h). by_lanes.h builds a transport on
// them, and lane_sums.h an all-reduce. docs/gpu.md says when they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pipedream::transport {

// Memory of a device, which `owner` keeps alive.
struct DeviceMemory {
  std::span<std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// One member's end of a connection between several devices, or of one device with itself. Calls
// begin an operation and return without waiting for another member. All members begin the same
// operations in the same order, and the operations complete in that order. The caller leaves an
// operation's memory alone until done() has counted the operation. Used by one thread.
class Lane {
 public:
  // Gives up the operations that are not done. Afterwards no device reads or writes their memory.
  // May wait until the other members destroy their ends too, so use close_together().
  virtual ~Lane() = default;

  // Sends to the second of two members. Called by the first. Requires at least one byte.
  virtual void send(std::span<const std::byte> bytes) = 0;
  // Receives what the first of two members sends. Called by the second. Requires at least one byte.
  virtual void receive(std::span<std::byte> into) = 0;
  // Copies `bytes` to `into`, on a lane with one member. Requires the same size of both, not zero.
  virtual void copy(std::span<const std::byte> bytes, std::span<std::byte> into) = 0;
  // Replaces `values` by their sums over all members.
  virtual void sum(std::span<float> values) = 0;

  // Advances the operations and returns how many have been completed since the lane was opened.
  // Throws WorkerLost if the lane broke.
  [[nodiscard]] virtual std::uint64_t done() = 0;
};

// Opens one worker's ends of lanes. Used by the thread that uses the lanes. Calls may change that
// thread's current device (as cudaSetDevice does).
class Lanes {
 public:
  virtual ~Lanes() = default;

  // Returns a name for a new lane. One member asks for it and tells the other members.
  [[nodiscard]] virtual std::vector<std::byte> new_name() = 0;
  // Opens the lane `name` as member `place`, from 0, of `members`. Each member opens it once. Does
  // not wait for the other members.
  [[nodiscard]] virtual std::unique_ptr<Lane> open(std::span<const std::byte> name, int members,
                                                   int place) = 0;
  // Returns device memory to receive into. `bytes` may be 0.
  [[nodiscard]] virtual DeviceMemory allocate(std::size_t bytes) = 0;
};

// Destroys `lanes` at the same time, each on its own thread. One after another they could deadlock:
// each may wait for a member that is destroying another lane first. Returns false if some have not
// ended after 10 s, for example because a member has died. These are left behind, and devices may
// still work on their memory.
[[nodiscard]] bool close_together(std::vector<std::unique_ptr<Lane>> lanes);

}  // namespace pipedream::transport
