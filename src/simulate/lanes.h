// Lanes carry communication that goes one after another: the messages from one worker to another,
// or the averagings of one replica group (docs/simulator.md).
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "core/fifo.h"
#include "cost/links.h"
#include "simulate/clock.h"
#include "simulate/fair_links.h"

namespace pipedream::simulate {

using LaneId = std::uint32_t;

// The links that a transfer uses, prepared for FairLinks.
struct Path {
  std::vector<Use> uses;  // weights are bytes per byte on the busiest link
  double scale = 1;       // bytes on the busiest link per byte transferred
};

// Each lane runs its jobs one after another and shares the links with all other lanes. Lanes puts
// its next happenings on the clock; when they come up, the owner calls flow_ends() and
// lane_goes_on(). Owned by the Engine and used by its thread.
class Lanes {
 public:
  Lanes(const cost::Links& links, Clock& clock);

  // Returns the path of a transfer. `uses` are the bytes on each link per byte transferred.
  [[nodiscard]] Path path(const std::vector<cost::LinkUse>& uses) const;

  // Adds a lane. A job arrives `latency` after its last byte has left. With `waits_latency` the
  // next job starts only when the last one has arrived everywhere, as in an averaging. Without, it
  // starts as soon as the last byte has left.
  LaneId add(Nanos latency, bool waits_latency);

  // Adds a job that starts at `ready` or later. It moves `bytes` along each of `paths`, one path
  // after another. `paths` must not be empty and must outlive the job. A path without links takes
  // no time, so that the job then takes only the lane's latency.
  void push(LaneId lane, Nanos now, Nanos ready, double bytes, std::span<const Path> paths);
  void push(LaneId lane, Nanos now, Nanos ready, double bytes, const Path& path) {
    push(lane, now, ready, bytes, {&path, 1});
  }

  struct Finished {
    LaneId lane;
    Nanos started;  // when the job began to move
    Nanos arrived;  // may be later than now, by the latency
  };
  // The owner must call flow_ends() for each What::kFlow of the clock, and lane_goes_on() for each
  // What::kLane. Both return the job that is over, or nullopt if none is.
  std::optional<Finished> flow_ends(FlowId flow, std::uint32_t generation, Nanos now);
  std::optional<Finished> lane_goes_on(LaneId lane, Nanos now);

  // Returns the bytes that passed each link in each direction, sorted by level and link. Links
  // without traffic are left out.
  [[nodiscard]] std::vector<cost::LinkUse> traffic() const;

 private:
  struct Job {
    Nanos ready;  // earliest start
    double bytes;
    std::span<const Path> paths;  // still to be moved along
  };
  // What a lane does: it has no job, waits until its job is ready, moves bytes, or waits for the
  // latency of its job to pass.
  enum class State { kIdle, kNotReady, kMoving, kArriving };
  struct Lane {
    Nanos latency;
    bool waits_latency;
    State state = State::kIdle;
    Nanos started{0};  // when the current job began to move
    Fifo<Job> jobs;    // the current job comes first
  };
  void start_next(LaneId id, Nanos now);
  void start_path(LaneId id, Nanos now);
  std::optional<Finished> moved(LaneId id, Nanos now);
  Finished finish(LaneId id, Nanos now, Nanos arrived);
  void tell_clock();
  [[nodiscard]] std::size_t link_index(const cost::LinkUse& use) const {
    return first_link_[use.level] + use.link * 2 + (use.outwards ? 0 : 1);
  }

  Clock& clock_;
  std::vector<std::size_t> first_link_;  // index of a level's first link; one more marks the end
  std::vector<double> bandwidths_;       // by link and direction, in bytes per second
  FairLinks links_;                      // has each link twice, once for each direction
  std::vector<Lane> lanes_;
  std::vector<LaneId> lane_of_;  // by flow
};

}  // namespace pipedream::simulate
