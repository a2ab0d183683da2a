#include "runtime/clock.h"

#include "runtime/tags.h"

namespace pipedream::runtime {
namespace {

using std::chrono::steady_clock;

constexpr int kRoundTrips = 8;

transport::Message message_with(Nanos time) { return {{time.count()}, {}, nullptr}; }

}  // namespace

Clock agreed_clock(transport::Transport& control) {
  const WorkerId master{0};
  Clock clock;
  if (control.me() == master) {
    for (int w = 1; w < control.workers(); ++w)
      for (int i = 0; i < kRoundTrips; ++i) {
        (void)next_message(control, {w}, kClock, kPatienceAtStart);
        control.send({w}, kClock, message_with(clock.now()));
      }
    return clock;
  }
  Nanos quickest = Nanos::max();
  for (int i = 0; i < kRoundTrips; ++i) {
    const auto asked = steady_clock::now();
    control.send(master, kClock, message_with(Nanos{0}));
    const Nanos there{next_message(control, master, kClock, kPatienceAtStart).header.at(0)};
    const auto answered = steady_clock::now();
    if (answered - asked >= quickest) continue;
    quickest = std::chrono::duration_cast<Nanos>(answered - asked);
    clock.began = answered - quickest / 2 - there;
  }
  return clock;
}

}  // namespace pipedream::runtime
