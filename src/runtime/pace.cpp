#include "runtime/pace.h"

#include <utility>
#include <vector>

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

std::vector<WorkerId> those_without(transport::Transport& control, bool has,
                                    std::chrono::milliseconds patience) {
  std::vector<WorkerId> found;
  if (control.me() != kLeader) {
    control.send(kLeader, kMeet, {{has ? 1 : 0}, {}, nullptr});
    return found;
  }
  if (!has) found.push_back(kLeader);
  for (int w = 1; w < control.workers(); ++w)
    if (next_message(control, {w}, kMeet, patience).header.at(0) == 0) found.push_back({w});
  return found;
}

void meet(transport::Transport& control, std::span<const WorkerId> members,
          std::chrono::milliseconds patience) {
  const WorkerId leader = members.front();
  if (control.me() != leader) {
    control.send(leader, kMeet, {});
    (void)next_message(control, leader, kMeet, patience);
    return;
  }
  for (const WorkerId other : members.subspan(1))
    (void)next_message(control, other, kMeet, patience);
  for (const WorkerId other : members.subspan(1)) control.send(other, kMeet, {});
}

void meet(transport::Transport& control, std::chrono::milliseconds patience) {
  std::vector<WorkerId> all;
  for (int w = 0; w < control.workers(); ++w) all.push_back({w});
  meet(control, all, patience);
}

}  // namespace pipedream::runtime
