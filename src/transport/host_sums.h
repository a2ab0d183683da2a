// Sums over workers that read each other's memory (docs/runtime.md#sums). Only ring.cpp uses it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "transport/peer_memory.h"
#include "transport/sums.h"

namespace pipedream::transport {

// One member's part in a sum over r members. It does what a ring of messages does (ring.h), with
// the same order of additions, and copies less:
//   1. Each member tells all others where its values are.
//   2. scatter_sums(): member m sums chunk m+1 over all members, and writes the sums over its own
//      values. Nobody else reads that chunk of its values.
//   3. gather_sums(): when a member's sums are complete, all others copy them.
//   4. A member returns when all others have copied its chunk, so that it may change its values.
class HostSums {
 public:
  // Keeps references to all arguments but `owner`, which keeps `values` alive.
  HostSums(Exchanger& exchanger, const PeerMemory& memory, std::span<const WorkerId> members,
           std::span<float> values, std::shared_ptr<const void> owner);

  void scatter_sums();
  void gather_sums();
  // The chunk whose sums this member has after scatter_sums().
  [[nodiscard]] std::span<float> own() const { return chunk_of(me_); }

 private:
  // The chunk that member `m` sums.
  [[nodiscard]] std::span<float> chunk_of(std::size_t m) const {
    return part_of(values_, (m + 1) % members_.size(), members_.size());
  }
  [[nodiscard]] std::size_t place_of(std::span<const float> chunk) const {
    return static_cast<std::size_t>(chunk.data() - values_.data());
  }
  // Adds up the values of all members with the indices of `piece`, which is a part of own().
  void sum(std::span<float> piece);
  [[nodiscard]] std::span<const float> read(std::size_t member, std::size_t first,
                                            std::span<float> into);
  void tell_others();
  void hear(std::size_t member) { (void)exchanger_.receive(members_[member]); }

  Exchanger& exchanger_;
  const PeerMemory& memory_;
  std::span<const WorkerId> members_;
  std::span<float> values_;
  std::shared_ptr<const void> owner_;
  std::size_t me_;
  std::vector<Message> offers_;  // by member; that of this member is empty
  std::vector<float> sums_;      // of a piece, so far
  std::vector<float> read_;      // values of another member
};

}  // namespace pipedream::transport
