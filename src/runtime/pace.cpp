#include "runtime/pace.h"

#include <utility>

#include "runtime/tags.h"

namespace pipedream::runtime {
namespace {

constexpr WorkerId kLeader{0};

}  // namespace

void Pace::tell(WorkerId other) { control_.send(other, kPace, {}); }

void Pace::hear(WorkerId other) { (void)next_message(control_, other, kPace, patience_); }

void Pace::hear_all() {
  for (int w = 1; w < control_.workers(); ++w) hear({w});
}

void Pace::next() {
  const bool leads = control_.me() == kLeader;
  if (!leads) tell(kLeader);
  if (std::exchange(first_, false)) return;
  if (!leads) {
    hear(kLeader);
    return;
  }
  hear_all();
  for (int w = 1; w < control_.workers(); ++w) tell({w});
}

void Pace::finish() {
  // next() leaves one message from each worker unread: the one sent at its last call.
  if (!first_ && control_.me() == kLeader) hear_all();
}

}  // namespace pipedream::runtime
