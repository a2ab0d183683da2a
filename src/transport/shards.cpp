#include "transport/shards.h"

namespace pipedream::transport {
namespace {

// Receives one piece of this member's shard from all others. Returns its sums with `mine`.
Message sum_of_all(Exchanger& exchanger, std::span<const WorkerId> members,
                   std::span<const float> mine) {
  Message sum;
  for (const WorkerId member : members) {
    if (member == exchanger.me())
      sum = sum.owner ? sum_of(std::move(sum), mine) : copy_of(mine);
    else if (Message theirs = exchanger.receive(member); sum.owner)
      sum = sum_of(std::move(sum), floats_of(theirs));
    else
      sum = std::move(theirs);
  }
  return sum;
}

}  // namespace

void sum_by_shards(Exchanger& exchanger, std::span<const WorkerId> members,
                   std::span<float> values) {
  const std::size_t r = members.size();
  const std::size_t me = place_in(members, exchanger.me());
  exchanger.tell_begun(members);
  // Each member begins with the one after it, so that not all send to the same member at once.
  for (std::size_t i = 1; i < r; ++i) {
    const std::size_t to = (me + i) % r;
    for_each_piece(part_of(values, to, r),
                   [&](std::span<float> piece) { exchanger.send(members[to], copy_of(piece)); });
  }
  (void)exchanger.wait_for_begun(members);
  for_each_piece(part_of(values, me, r), [&](std::span<float> piece) {
    const Message sum = sum_of_all(exchanger, members, piece);
    copy_into(piece, sum);
    for (std::size_t i = 1; i < r; ++i) exchanger.send(members[(me + i) % r], sum);
  });
  for (std::size_t i = 1; i < r; ++i) {
    const std::size_t from = (me + i) % r;
    for_each_piece(part_of(values, from, r), [&](std::span<float> piece) {
      copy_into(piece, exchanger.receive(members[from]));
    });
  }
}

}  // namespace pipedream::transport
