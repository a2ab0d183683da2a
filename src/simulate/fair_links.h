// Links that several flows share max–min fairly (docs/simulator.md): no flow can get a higher rate
// without lowering the rate of a flow that is not faster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/units.h"

namespace pipedream::simulate {

// How much a flow uses one link.
struct Use {
  std::uint32_t link = 0;  // index of the link
  double weight = 1;       // bytes on the link per byte of the flow
};

using FlowId = std::uint32_t;

// The end that is reported for a flow that would take 100 years or longer.
inline constexpr Nanos kNever = std::chrono::hours(24 * 365 * 100);

// Keeps the rates of all flows and says when each will end. It has no clock: the caller passes the
// time, which must never go back. A flow that is alone on its links from start to end takes exactly
// volume/bandwidth, rounded to the nearest nanosecond. Owned and used by one thread.
class FairLinks {
 public:
  explicit FairLinks(std::span<const Bandwidth> links);

  // Starts a flow of `volume` bytes. `uses` must outlive the flow, name each link at most once and
  // have at least one entry.
  [[nodiscard]] FlowId start(Nanos now, std::span<const Use> uses, double volume);
  // Ends a flow. `now` must be the `end` of the flow's last Change.
  void finish(Nanos now, FlowId flow);

  // A new end of a flow. It replaces all earlier Changes of the flow.
  struct Change {
    FlowId flow;
    std::uint32_t generation;  // number of this Change among those of the flow
    Nanos end;
  };
  // Returns the new flow of the last start(), and all flows whose end the last start() or finish()
  // has changed.
  [[nodiscard]] std::span<const Change> changes() const { return changes_; }
  // Returns whether the Change with this `generation` is the flow's latest and the flow still runs.
  [[nodiscard]] bool holds(FlowId flow, std::uint32_t generation) const {
    return flows_[flow].generation == generation && flows_[flow].active;
  }
  // Returns the bytes that finished flows have moved over a link.
  [[nodiscard]] double bytes(std::size_t link) const { return links_[link].bytes; }

 private:
  struct Flow {
    std::span<const Use> uses;
    double volume = 0;  // bytes
    double left = 0;    // bytes still to move at the time `since`
    double rate = 0;    // bytes per second
    Nanos since{0};     // when `rate` last changed
    std::uint32_t generation = 0;
    std::uint32_t mark = 0;  // equals mark_ if the flow is in near_
    bool active = false;
    bool frozen = false;  // scratch: has its new rate
  };
  struct Link {
    double bandwidth = 0;       // bytes per second
    double bytes = 0;           // moved by finished flows
    double free = 0;            // scratch: bandwidth not given away yet
    double weight = 0;          // scratch: sum of the weights of the flows without a new rate
    std::uint32_t mark = 0;     // equals mark_ if the link is in touched_
    std::vector<FlowId> flows;  // flows that use the link now
  };

  void collect(std::span<const Use> around);
  void share(Nanos now);
  void set_rate(Nanos now, FlowId id, double rate);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<FlowId> unused_;  // ids that the next flows get
  std::vector<Change> changes_;
  std::uint32_t mark_ = 0;              // number of the last collect()
  std::vector<FlowId> near_;            // scratch: flows whose rates depend on each other
  std::vector<std::uint32_t> touched_;  // scratch: links that the flows in near_ use
};

}  // namespace pipedream::simulate
