// Ways for bytes between the memories of devices, past the host: NCCL's communicators (nccl.h), or,
// for tests, the host's memory in their place (lanes_testing.h). by_lanes.h makes a transport of
// them, lane_sums.h sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pipedream::transport {

// Kept alive by its owner.
struct DeviceMemory {
  std::span<std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// One member's end of a way that two or more devices, or one with itself, have in common. All
// members begin the same things in the same order, and they are done in that order; the memory of
// each is left alone until it is done. No call waits for another member. Used by one thread.
class Lane {
 public:
  // Gives up what is not done: no device reads or writes its memory any more. May wait until the
  // other members do the same, so use close_together().
  virtual ~Lane() = default;

  // From the first of two members to the second. Not of nothing.
  virtual void send(std::span<const std::byte> bytes) = 0;
  virtual void receive(std::span<std::byte> into) = 0;
  // Of a lane with one member; as many bytes, and not none.
  virtual void copy(std::span<const std::byte> bytes, std::span<std::byte> into) = 0;
  // Replaces the values by their sums over all members.
  virtual void sum(std::span<float> values) = 0;

  // Moves on, and says how many of all things begun are done. Throws WorkerLost when the lane
  // broke.
  [[nodiscard]] virtual std::uint64_t done() = 0;
};

// Where one worker's ends of lanes come from. Used by the thread that uses them, whose device,
// where libraries have such a thing, may be another afterwards.
class Lanes {
 public:
  virtual ~Lanes() = default;

  // Of a lane that is to be: one member asks for it and tells the others.
  [[nodiscard]] virtual std::vector<std::byte> new_name() = 0;
  // The end of member `place` of `members`, who all open it once. Does not wait for them.
  [[nodiscard]] virtual std::unique_ptr<Lane> open(std::span<const std::byte> name, int members,
                                                   int place) = 0;
  // Memory to receive into; of no bytes, too.
  [[nodiscard]] virtual DeviceMemory allocate(std::size_t bytes) = 0;
};

// Destroys lanes all at once, each on a thread of its own: in any order one could wait for a member
// that destroys another first. False when some have not ended after a while, because a member is
// dead, say: they are left behind, and devices may still work on their memory.
[[nodiscard]] bool close_together(std::vector<std::unique_ptr<Lane>> lanes);

}  // namespace pipedream::transport
