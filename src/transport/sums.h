// What ring.cpp and shards.cpp have in common: messages of floats, and the exchange of them. Only
// files of this folder include it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/even_part.h"
#include "core/units.h"
#include "transport/transport.h"

namespace pipedream::transport {

// The most floats that one message of a sum carries. More values are sent in pieces, so that the
// next member works on the first piece while the last is still being sent.
inline constexpr std::size_t kPieceFloats = std::size_t{1} << 18;

// Calls use(piece) for each piece of `values`, in order. Not called if `values` is empty.
template <class Floats, class Use>
void for_each_piece(std::span<Floats> values, Use use) {
  for (std::size_t at = 0; at < values.size(); at += kPieceFloats)
    use(values.subspan(at, std::min(kPieceFloats, values.size() - at)));
}

// Part `c` of `r` equal parts of the n values: [n·c/r, n·(c+1)/r), rounded down.
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

// Returns a message of `count` floats that fill() has written. Its memory is its own: a backend
// within one process hands that memory to the receiver, who reads it while this member already
// writes sums into its values.
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

// Returns the sums of `before` and `mine`. They are in the memory of `before` if nobody else holds
// that memory, and in new memory otherwise.
[[nodiscard]] inline Message sum_of(Message before, std::span<const float> mine) {
  const std::span<const float> sum = floats_of(before);
  PD_CHECK(sum.size() == mine.size());
  const auto add = [&](std::span<float> into) {
    std::transform(sum.begin(), sum.end(), mine.begin(), into.begin(), std::plus<>());
  };
  if (before.owner.use_count() != 1) return new_message(mine.size(), add);
  add({const_cast<float*>(sum.data()), sum.size()});
  return before;
}

inline void copy_into(std::span<float> values, const Message& message) {
  const std::span<const float> sum = floats_of(message);
  PD_CHECK(sum.size() == values.size());
  std::copy(sum.begin(), sum.end(), values.begin());
}

// One member's end of one sum. Sends and receives, and keeps count of the bytes and the waiting.
//
// A member tells the members that receive from it that it has begun, by a message of no bytes. On a
// link that message is delayed only by what is queued there already. So the time that a member was
// late can be told from the time that its values took.
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
  // Tells `members` that this one has begun, by `message`. Only the first call has an effect, so
  // that a sum which consists of several rings tells it once.
  void tell_begun(std::span<const WorkerId> members, const Message& message = {}) {
    if (std::exchange(told_, true)) return;
    for (const WorkerId member : members)
      if (member != me()) transport_.send(member, tag_, message);
  }
  // Waits until `members` have begun, and returns their messages, with an empty one for this
  // member. Only the first call has an effect; others return nothing.
  std::vector<Message> wait_for_begun(std::span<const WorkerId> members) {
    if (std::exchange(heard_, true)) return {};
    const auto began = std::chrono::steady_clock::now();
    std::vector<Message> messages;
    for (const WorkerId member : members)
      messages.push_back(member == me() ? Message() : receive(member));
    waited_ = std::chrono::steady_clock::now() - began;
    return messages;
  }
  // Counts bytes that this member has read from another's memory. They count as sent, as if they
  // had come in a message.
  void count_sent(Bytes bytes) { sent_ += bytes; }

  [[nodiscard]] WorkerId me() const { return transport_.me(); }
  [[nodiscard]] const PeerMemory* peer_memory() const { return transport_.peer_memory(); }
  [[nodiscard]] Bytes sent() const { return sent_; }
  // How long wait_for_begun() waited.
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
