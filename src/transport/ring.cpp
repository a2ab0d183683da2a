#include "transport/ring.h"

namespace pipedream::transport {
namespace {

// One member's view of the ring: its neighbours, and its values cut into chunks.
class Ring {
 public:
  Ring(Exchanger& exchanger, std::span<const WorkerId> members, std::span<float> values)
      : exchanger_(exchanger),
        members_(members),
        values_(values),
        me_(place_in(members, exchanger.me())) {}

  // Reduce-scatter: partial sums go around the ring and grow. Afterwards this member has the
  // complete sums of the chunk own(), and of no other. With `hand_on` it sends each piece of that
  // chunk to the next member as soon as the piece is complete.
  void scatter_sums(bool hand_on);
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
  bool handed_on_ = false;  // scatter_sums() has sent the chunk own()
};

void Ring::scatter_sums(bool hand_on) {
  const std::size_t r = members_.size();
  if (r == 1) return;
  exchanger_.tell_begun(next());
  for_each_piece(chunk(me_), [&](std::span<float> piece) { send(copy_of(piece)); });
  exchanger_.wait_for_begun(before());
  for (std::size_t step = 1; step < r; ++step)
    for_each_piece(chunk(me_ + r - step), [&](std::span<float> piece) {
      Message sum = sum_of(receive(), piece);
      const bool complete = step + 1 == r;
      if (complete) copy_into(piece, sum);
      if (!complete || hand_on) send(std::move(sum));
    });
  handed_on_ = hand_on;
}

void Ring::gather_sums() {
  const std::size_t r = members_.size();
  if (r == 1) return;
  if (!handed_on_) for_each_piece(own(), [&](std::span<float> piece) { send(copy_of(piece)); });
  for (std::size_t step = 0; step + 1 < r; ++step)
    for_each_piece(chunk(me_ + r - step), [&](std::span<float> piece) {
      Message sum = receive();
      copy_into(piece, sum);
      if (step + 2 < r) send(std::move(sum));
    });
}

}  // namespace

void sum_by_ring(Exchanger& exchanger, std::span<const WorkerId> members, std::span<float> values) {
  Ring ring(exchanger, members, values);
  ring.scatter_sums(/*hand_on=*/true);
  ring.gather_sums();
}

void sum_by_two_rings(Exchanger& exchanger, const std::vector<std::vector<WorkerId>>& hosts,
                      std::span<float> values) {
  const auto mine = std::find_if(hosts.begin(), hosts.end(), [&](const auto& host) {
    return std::find(host.begin(), host.end(), exchanger.me()) != host.end();
  });
  PD_CHECK(mine != hosts.end());
  Ring inside(exchanger, *mine, values);
  inside.scatter_sums(/*hand_on=*/false);
  std::vector<WorkerId> across;
  for (const std::vector<WorkerId>& host : hosts)
    across.push_back(host.at(place_in(*mine, exchanger.me())));
  sum_by_ring(exchanger, across, inside.own());
  inside.gather_sums();
}

}  // namespace pipedream::transport
