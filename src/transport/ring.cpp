#include "transport/ring.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "core/check.h"

namespace pipedream::transport {
namespace {

std::span<const float> floats_of(const Message& message) {
  return {reinterpret_cast<const float*>(message.bytes.data()),
          message.bytes.size() / sizeof(float)};
}

// One member's view: its neighbours, and the chunks by their number modulo r.
class Ring {
 public:
  Ring(Transport& transport, std::span<const WorkerId> members, int tag, std::span<float> values,
       Deadline deadline)
      : transport_(transport), members_(members), tag_(tag), values_(values), deadline_(deadline) {
    const auto place = std::find(members.begin(), members.end(), transport.me());
    PD_CHECK(place != members.end());
    me_ = static_cast<std::size_t>(place - members.begin());
  }

  // Chunk numbers may be beyond r.
  [[nodiscard]] std::span<float> chunk(std::size_t number) const {
    const std::size_t n = values_.size(), r = members_.size(), c = number % r;
    return values_.subspan(n * c / r, n * (c + 1) / r - n * c / r);
  }

  [[nodiscard]] std::size_t me() const { return me_; }

  void send(Message message) const {
    transport_.send(members_[(me_ + 1) % members_.size()], tag_, std::move(message));
  }

  [[nodiscard]] Message receive() const {
    const std::size_t r = members_.size();
    return transport_.wait(transport_.receive(members_[(me_ + r - 1) % r], tag_), deadline_);
  }

 private:
  Transport& transport_;
  std::span<const WorkerId> members_;
  int tag_;
  std::span<float> values_;
  Deadline deadline_;
  std::size_t me_ = 0;
};

// Messages get memory of their own: backends within a process hand it to the receiver, who reads it
// while we write the sums into `values`.
template <class Fill>
Message new_message(std::size_t count, Fill fill) {
  const auto memory = std::make_shared_for_overwrite<float[]>(count);
  const std::span<float> floats(memory.get(), count);
  fill(floats);
  return {{}, std::as_bytes(floats), memory};
}

Message copy_of(std::span<const float> values) {
  return new_message(values.size(), [&](std::span<float> into) {
    std::copy(values.begin(), values.end(), into.begin());
  });
}

Message sum_of(const Message& before, std::span<const float> mine) {
  const std::span<const float> sum = floats_of(before);
  PD_CHECK(sum.size() == mine.size());
  return new_message(mine.size(), [&](std::span<float> into) {
    std::transform(sum.begin(), sum.end(), mine.begin(), into.begin(), std::plus<>());
  });
}

void copy_into(std::span<float> values, const Message& message) {
  const std::span<const float> sum = floats_of(message);
  PD_CHECK(sum.size() == values.size());
  std::copy(sum.begin(), sum.end(), values.begin());
}

}  // namespace

Nanos ring_all_reduce(Transport& transport, std::span<const WorkerId> members, int tag,
                      std::span<float> values, Deadline deadline) {
  const Ring ring(transport, members, tag, values, deadline);
  const std::size_t r = members.size();
  if (r == 1) return Nanos{0};

  // Sums go around and grow: in step s we get that of chunk me−s and add ours.
  ring.send(copy_of(ring.chunk(ring.me())));
  const auto began = std::chrono::steady_clock::now();
  Message sum = ring.receive();
  const Nanos waited = std::chrono::steady_clock::now() - began;
  for (std::size_t step = 1; step < r; ++step) {
    if (step > 1) sum = ring.receive();
    sum = sum_of(sum, ring.chunk(ring.me() + r - step));
    ring.send(sum);
  }

  // The last one was complete: chunk me+1. Complete ones go around as they are, but not back to
  // where they started.
  copy_into(ring.chunk(ring.me() + 1), sum);
  for (std::size_t step = 0; step + 1 < r; ++step) {
    sum = ring.receive();
    copy_into(ring.chunk(ring.me() + r - step), sum);
    if (step + 2 < r) ring.send(sum);
  }
  return waited;
}

}  // namespace pipedream::transport
