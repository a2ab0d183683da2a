// Links that several transfers use at once, max–min fair: no flow can get more without taking from
// one that has no more than it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/units.h"

namespace pipedream::simulate {

// What one flow takes of a link per byte of its own progress.
struct Use {
  std::uint32_t link = 0;
  double weight = 1;
};

using FlowId = std::uint32_t;

// The end of a flow that takes centuries.
inline constexpr Nanos kNever = std::chrono::hours(24 * 365 * 100);

// Pure bookkeeping of rates: whoever uses it says what time it is, which never goes back. A flow
// that is alone on its links from start to end takes exactly volume/bandwidth, rounded to the
// nearest nanosecond.
class FairLinks {
 public:
  explicit FairLinks(std::span<const Bandwidth> links);

  // A flow begins. `uses` must outlive it, name each link once and have at least one entry.
  [[nodiscard]] FlowId start(Nanos now, std::span<const Use> uses, double volume);
  // A flow is over, at the time that `end` says.
  void finish(Nanos now, FlowId flow);

  // Flows whose end has changed in the last call of start or finish, the new one among them.
  struct Change {
    FlowId flow;
    std::uint32_t generation;  // of this answer; earlier ones hold no longer
    Nanos end;
  };
  [[nodiscard]] std::span<const Change> changes() const { return changes_; }
  [[nodiscard]] bool holds(FlowId flow, std::uint32_t generation) const {
    return flows_[flow].generation == generation && flows_[flow].active;
  }
  // All that flows have moved over a link when they were finished.
  [[nodiscard]] double bytes(std::size_t link) const { return links_[link].bytes; }

 private:
  struct Flow {
    std::span<const Use> uses;
    double volume = 0;
    double left = 0;
    double rate = 0;  // bytes per second
    Nanos since{0};   // `left` is as of then
    std::uint32_t generation = 0;
    std::uint32_t mark = 0;
    bool active = false;
    bool frozen = false;
  };
  struct Link {
    double bandwidth = 0;
    double bytes = 0;
    double free = 0;    // scratch: bandwidth not given away yet
    double weight = 0;  // scratch: of the flows that have no rate yet
    std::uint32_t mark = 0;
    std::vector<FlowId> flows;
  };

  void collect(std::span<const Use> around);
  void share(Nanos now);
  void set_rate(Nanos now, FlowId id, double rate);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<FlowId> unused_;
  std::vector<Change> changes_;
  std::uint32_t mark_ = 0;
  std::vector<FlowId> near_;            // scratch: flows that depend on each other
  std::vector<std::uint32_t> touched_;  // scratch: their links
};

}  // namespace pipedream::simulate
