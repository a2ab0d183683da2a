#include "probe/traffic.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "core/median.h"
#include "probe/together.h"

namespace pipedream::probe {
namespace {

using std::chrono::steady_clock;
using transport::Message;

enum Tag : int { kLoad, kPing };

constexpr std::int64_t kLargest = std::int64_t{1} << 20;
constexpr std::int64_t kSmallest = std::int64_t{1} << 14;
constexpr std::int64_t kFewest = 16;
constexpr std::size_t kBuffers = 16;  // of the largest messages together more than a core's caches
constexpr int kPings = 25;
constexpr std::chrono::milliseconds kPause{1};

using Memory = std::vector<std::byte>;

// The part of `memory` for a message: one after the other, and again from the beginning.
std::span<std::byte> buffer(Memory& memory, std::int64_t number, Bytes size) {
  const auto bytes = static_cast<std::size_t>(size.count);
  return std::span(memory).subspan(static_cast<std::size_t>(number) % kBuffers * bytes, bytes);
}

std::shared_ptr<Memory> new_memory(const Load& load) {
  return std::make_shared<Memory>(kBuffers * static_cast<std::size_t>(load.each.count),
                                  std::byte{1});
}

void receive_all(transport::Transport& channel, const Flow& flow, const Load& load,
                 Memory* copied) {
  for (std::int64_t i = 0; i < load.messages; ++i) {
    const Message message = channel.wait(channel.receive(flow.peer, kLoad), patience());
    if (copied != nullptr)
      std::copy(message.bytes.begin(), message.bytes.end(), buffer(*copied, i, load.each).begin());
  }
}

void ping(transport::Transport& channel, WorkerId peer) { channel.send(peer, kPing, {}); }
void await_ping(transport::Transport& channel, WorkerId peer) {
  (void)channel.wait(channel.receive(peer, kPing), patience());
}

}  // namespace

Load load_of(Bytes bytes) {
  const std::int64_t each = std::clamp(bytes.count / kFewest, kSmallest, kLargest);
  return {std::max(kFewest, bytes.count / each), Bytes{each}};
}

Nanos carry(transport::Transport& channel, const Flow& flow, const Load& load) {
  const std::shared_ptr<Memory> sent = flow.sends ? new_memory(load) : nullptr;
  const std::shared_ptr<Memory> copied = flow.copies ? new_memory(load) : nullptr;
  const auto began = steady_clock::now();
  for (std::int64_t i = 0; flow.sends && i < load.messages; ++i)
    channel.send(flow.peer, kLoad,
                 {.header = {}, .bytes = buffer(*sent, i, load.each), .owner = sent});
  if (!flow.receives) return Nanos(0);
  receive_all(channel, flow, load, copied.get());
  return steady_clock::now() - began;
}

Nanos one_way_time(transport::Transport& channel, WorkerId peer, bool begins) {
  std::vector<Nanos> times;
  for (int i = 0; i < kPings; ++i) {
    if (begins) std::this_thread::sleep_for(kPause);
    const auto sent = steady_clock::now();
    if (begins) ping(channel, peer);
    await_ping(channel, peer);
    if (!begins) ping(channel, peer);
    times.push_back((steady_clock::now() - sent) / 2);
  }
  return median(times);
}

}  // namespace pipedream::probe
