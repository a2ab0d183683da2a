// What the ways to sum over workers are made of. Only files of this folder include it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "core/check.h"
#include "core/even_part.h"
#include "core/units.h"
#include "transport/transport.h"

namespace pipedream::transport {

// Long stretches travel in pieces, so that the next member works on the first while the last is
// still on its way.
inline constexpr std::size_t kPieceFloats = std::size_t{1} << 18;

// Calls use(piece) for each piece of the values, in order; for none where there are none.
template <class Floats, class Use>
void for_each_piece(std::span<Floats> values, Use use) {
  for (std::size_t at = 0; at < values.size(); at += kPieceFloats)
    use(values.subspan(at, std::min(kPieceFloats, values.size() - at)));
}

// Part `c` of `r` of the values: [n·c/r, n·(c+1)/r), rounded down.
template <class Floats>
[[nodiscard]] std::span<Floats> part_of(std::span<Floats> values, std::size_t c, std::size_t r) {
  const Range part = even_part(static_cast<std::int64_t>(values.size()),
                               static_cast<std::int64_t>(c), static_cast<std::int64_t>(r));
  return values.subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.count));
}

[[nodiscard]] inline std::span<const float> floats_of(const Message& message) {
  return {reinterpret_cast<const float*>(message.bytes.data()),
          message.bytes.size() / sizeof(float)};
}

// Messages get memory of their own: backends within a process hand it to the receiver, who reads it
// while we write the sums into our values.
template <class Fill>
[[nodiscard]] Message new_message(std::size_t count, Fill fill) {
  const auto memory = std::make_shared_for_overwrite<float[]>(count);
  const std::span<float> floats(memory.get(), count);
  fill(floats);
  return {{}, std::as_bytes(floats), memory};
}

[[nodiscard]] inline Message copy_of(std::span<const float> values) {
  return new_message(values.size(), [&](std::span<float> into) {
    std::copy(values.begin(), values.end(), into.begin());
  });
}

[[nodiscard]] inline Message sum_of(const Message& before, std::span<const float> mine) {
  const std::span<const float> sum = floats_of(before);
  PD_CHECK(sum.size() == mine.size());
  return new_message(mine.size(), [&](std::span<float> into) {
    std::transform(sum.begin(), sum.end(), mine.begin(), into.begin(), std::plus<>());
  });
}

inline void copy_into(std::span<float> values, const Message& message) {
  const std::span<const float> sum = floats_of(message);
  PD_CHECK(sum.size() == values.size());
  std::copy(sum.begin(), sum.end(), values.begin());
}

// One member's end of a sum: sends and receives, and what that amounts to. Members tell those who
// wait for them that they have begun, in a message of no bytes, which waits on a link only for what
// is there already: so it is known how late they were, and how long their values took.
class Exchanger {
 public:
  Exchanger(Transport& transport, int tag, Deadline deadline)
      : transport_(transport), tag_(tag), deadline_(deadline) {}

  void send(WorkerId to, Message message) {
    sent_ += Bytes{static_cast<std::int64_t>(message.bytes.size())};
    transport_.send(to, tag_, std::move(message));
  }
  [[nodiscard]] Message receive(WorkerId from) {
    return transport_.wait(transport_.receive(from, tag_), deadline_);
  }
  // Of a sum that consists of several, the first tells and the first waits.
  void tell_begun(std::span<const WorkerId> members) {
    if (std::exchange(told_, true)) return;
    for (const WorkerId member : members)
      if (member != me()) transport_.send(member, tag_, {});
  }
  void wait_for_begun(std::span<const WorkerId> members) {
    if (std::exchange(heard_, true)) return;
    const auto began = std::chrono::steady_clock::now();
    for (const WorkerId member : members)
      if (member != me()) (void)receive(member);
    waited_ = std::chrono::steady_clock::now() - began;
  }

  [[nodiscard]] WorkerId me() const { return transport_.me(); }
  [[nodiscard]] Bytes sent() const { return sent_; }
  // How late the others were.
  [[nodiscard]] Nanos waited() const { return waited_; }

 private:
  Transport& transport_;
  int tag_;
  Deadline deadline_;
  Bytes sent_;
  Nanos waited_{0};
  bool told_ = false;
  bool heard_ = false;
};

}  // namespace pipedream::transport
