#include "transport/ring.h"

#include "transport/host_sums.h"

namespace pipedream::transport {
namespace {

// One member's view of the ring: its neighbours, and its values cut into chunks.
class Ring {
 public:
  // `hands_on`: scatter_sums() sends each piece of own() to the next member as soon as the piece is
  // complete.
  Ring(Exchanger& exchanger, std::span<const WorkerId> members, std::span<float> values,
       bool hands_on)
      : exchanger_(exchanger),
        members_(members),
        values_(values),
        me_(place_in(members, exchanger.me())),
        hands_on_(hands_on) {}

  // Reduce-scatter: partial sums go around the ring and grow. Afterwards this member has the
  // complete sums of the chunk own(), and of no other.
  void scatter_sums();
  // All-gather: each complete chunk goes around the ring until all members have it.
  void gather_sums();
  [[nodiscard]] std::span<float> own() const { return chunk(me_ + 1); }

 private:
  // The chunk `number` modulo r.
  [[nodiscard]] std::span<float> chunk(std::size_t number) const {
    return part_of(values_, number % members_.size(), members_.size());
  }
  [[nodiscard]] std::span<const WorkerId> next() const {
    return members_.subspan((me_ + 1) % members_.size(), 1);
  }
  [[nodiscard]] std::span<const WorkerId> before() const {
    return members_.subspan((me_ + members_.size() - 1) % members_.size(), 1);
  }
  void send(Message message) { exchanger_.send(next().front(), std::move(message)); }
  [[nodiscard]] Message receive() { return exchanger_.receive(before().front()); }

  Exchanger& exchanger_;
  std::span<const WorkerId> members_;
  std::span<float> values_;
  std::size_t me_;
  bool hands_on_;
};

void Ring::scatter_sums() {
  const std::size_t r = members_.size();
  if (r == 1) return;
  exchanger_.tell_begun(next());
  for_each_piece(chunk(me_), [&](std::span<float> piece) { send(copy_of(piece)); });
  (void)exchanger_.wait_for_begun(before());
  for (std::size_t step = 1; step < r; ++step)
    for_each_piece(chunk(me_ + r - step), [&](std::span<float> piece) {
      Message sum = sum_of(receive(), piece);
      const bool complete = step + 1 == r;
      if (complete) copy_into(piece, sum);
      if (!complete || hands_on_) send(std::move(sum));
    });
}

void Ring::gather_sums() {
  const std::size_t r = members_.size();
  if (r == 1) return;
  if (!hands_on_) for_each_piece(own(), [&](std::span<float> piece) { send(copy_of(piece)); });
  for (std::size_t step = 0; step + 1 < r; ++step)
    for_each_piece(chunk(me_ + r - step), [&](std::span<float> piece) {
      Message sum = receive();
      copy_into(piece, sum);
      if (step + 2 < r) send(std::move(sum));
    });
}

// Whether this member can read the memory of all others. Then each of them can, too.
bool can_read_all(const Exchanger& exchanger, std::span<const WorkerId> members) {
  const PeerMemory* memory = exchanger.peer_memory();
  return memory != nullptr && std::all_of(members.begin(), members.end(), [&](WorkerId member) {
           return member == exchanger.me() || memory->can_read(member);
         });
}

template <class Inside>
void sum_two_levels(Inside inside, Exchanger& exchanger, std::span<const WorkerId> across) {
  inside.scatter_sums();
  sum_by_ring(exchanger, across, inside.own());
  inside.gather_sums();
}

}  // namespace

void sum_by_ring(Exchanger& exchanger, std::span<const WorkerId> members, std::span<float> values,
                 const std::shared_ptr<const void>& owner) {
  if (owner && can_read_all(exchanger, members)) {
    HostSums sums(exchanger, *exchanger.peer_memory(), members, values, owner);
    sums.scatter_sums();
    sums.gather_sums();
    return;
  }
  Ring ring(exchanger, members, values, /*hands_on=*/true);
  ring.scatter_sums();
  ring.gather_sums();
}

void sum_by_two_rings(Exchanger& exchanger, const std::vector<std::vector<WorkerId>>& hosts,
                      std::span<float> values, const std::shared_ptr<const void>& owner) {
  const auto mine = std::find_if(hosts.begin(), hosts.end(), [&](const auto& host) {
    return std::find(host.begin(), host.end(), exchanger.me()) != host.end();
  });
  PD_CHECK(mine != hosts.end());
  std::vector<WorkerId> across;
  for (const std::vector<WorkerId>& host : hosts)
    across.push_back(host.at(place_in(*mine, exchanger.me())));
  if (owner && can_read_all(exchanger, *mine))
    sum_two_levels(HostSums(exchanger, *exchanger.peer_memory(), *mine, values, owner), exchanger,
                   across);
  else
    sum_two_levels(Ring(exchanger, *mine, values, /*hands_on=*/false), exchanger, across);
}

}  // namespace pipedream::transport
