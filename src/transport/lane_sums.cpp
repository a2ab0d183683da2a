#include "transport/lane_sums.h"

#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "core/even_part.h"

namespace pipedream::transport {
namespace {

// The state of the function that sum_by_lanes() returns. sum() is called by one thread.
class LaneSums {
 public:
  LaneSums(Transport& channel, std::unique_ptr<Lanes> lanes)
      : channel_(channel), lanes_(std::move(lanes)) {}
  ~LaneSums() {
    say_goodbye();
    close();
  }
  LaneSums(const LaneSums&) = delete;
  LaneSums& operator=(const LaneSums&) = delete;

  Summed sum(std::span<const WorkerId> members, int tag, std::span<float> values) {
    if (values.empty()) return {};
    Nanos waited{0};
    try {
      Group& group = group_of(members, tag);
      waited = meet(members, tag, Deadline::max());
      group.lane->sum(values);
      ++group.begun;
      while (group.lane->done() < group.begun)
        sleep_until(channel_, std::chrono::steady_clock::now() + kBetweenLooks);
    } catch (...) {
      close();  // the caller may free `values` when this has thrown
      throw;
    }
    return {waited, own_part_of_sent(members, values)};
  }

 private:
  static constexpr std::chrono::microseconds kBetweenLooks{50};
  static constexpr std::chrono::seconds kGoodbye{5};
  struct Group {
    int tag = 0;  // of the group's first sum
    std::unique_ptr<Lane> lane;
    std::uint64_t begun = 0;  // sums begun on `lane`
  };

  // NCCL does not tell what it sends. This is one member's share of what a ring sends in all.
  [[nodiscard]] Bytes own_part_of_sent(std::span<const WorkerId> members,
                                       std::span<const float> values) const {
    const auto r = static_cast<std::int64_t>(members.size());
    const auto of_all = 2 * (r - 1) * static_cast<std::int64_t>(values.size_bytes());
    const auto place = static_cast<std::int64_t>(place_in(members, channel_.me()));
    return Bytes{even_part(of_all, place, r).count};
  }

  // Returns when all members have called it. The result is how long that took.
  Nanos meet(std::span<const WorkerId> members, int tag, Deadline deadline) {
    const auto before = std::chrono::steady_clock::now();
    const WorkerId first = members.front();
    if (channel_.me() == first) {
      for (const WorkerId member : members.subspan(1))
        (void)channel_.wait(channel_.receive(member, tag), deadline);
      for (const WorkerId member : members.subspan(1)) channel_.send(member, tag, {});
    } else {
      channel_.send(first, tag, {});
      (void)channel_.wait(channel_.receive(first, tag), deadline);
    }
    return std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now() - before);
  }

  // Meets the members of all groups before their lanes are closed, because closing a lane ends what
  // other members still do on it. A member that does not come has failed, and is not waited for
  // long.
  void say_goodbye() {
    const Deadline deadline = std::chrono::steady_clock::now() + kGoodbye;
    try {
      for (const auto& [members, group] : groups_) (void)meet(members, group.tag, deadline);
    } catch (const WorkerLost&) {  // reported elsewhere
    }
  }

  // Closes all lanes. One that does not close in time may still write to values that are freed
  // afterwards, but then the run has failed.
  void close() {
    std::vector<std::unique_ptr<Lane>> lanes;
    for (auto& [members, group] : groups_)
      if (group.lane) lanes.push_back(std::move(group.lane));
    groups_.clear();
    (void)close_together(std::move(lanes));
  }

  Group& group_of(std::span<const WorkerId> members, int tag) {
    Group& group = groups_[{members.begin(), members.end()}];
    if (!group.lane) {
      group.tag = tag;
      const std::size_t place = place_in(members, channel_.me());
      const Message name = place == 0 ? tell_name(members, tag) : hear_name(members.front(), tag);
      group.lane =
          lanes_->open(name.bytes, static_cast<int>(members.size()), static_cast<int>(place));
    }
    return group;
  }
  Message tell_name(std::span<const WorkerId> members, int tag) {
    const auto name = std::make_shared<const std::vector<std::byte>>(lanes_->new_name());
    const Message message{{}, *name, name};
    for (const WorkerId member : members.subspan(1)) channel_.send(member, tag, message);
    return message;
  }
  Message hear_name(WorkerId from, int tag) {
    return channel_.wait(channel_.receive(from, tag), Deadline::max());
  }

  Transport& channel_;
  std::unique_ptr<Lanes> lanes_;
  std::map<std::vector<WorkerId>, Group> groups_;  // by members
};

}  // namespace

Sum sum_by_lanes(Transport& channel, std::unique_ptr<Lanes> lanes) {
  return [sums = std::make_shared<LaneSums>(channel, std::move(lanes))](
             std::span<const WorkerId> members, int tag, std::span<float> values,
             const std::shared_ptr<const void>&) { return sums->sum(members, tag, values); };
}

}  // namespace pipedream::transport
