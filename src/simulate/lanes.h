// Lanes of communication: what goes one after another between two workers, or within one group.
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

// What moves take of the links, prepared for FairLinks: per byte on the busiest of them.
struct Path {
  std::vector<Use> uses;
  double scale = 1;  // bytes on that link per byte asked for
};

// Each lane works through its jobs in their order, sharing the links with all other lanes. Owned by
// the engine, which hands it what the clock says.
class Lanes {
 public:
  Lanes(const cost::Links& links, Clock& clock);

  [[nodiscard]] Path path(const std::vector<cost::LinkUse>& uses) const;

  // `waits_latency`: the next job starts only when the last one has arrived everywhere (the steps
  // of an averaging), not as soon as its last byte has left.
  LaneId add(Nanos latency, bool waits_latency);

  // The bytes move along each of the paths, one after another, which must outlive the job; an empty
  // one takes no time but the latency.
  void push(LaneId lane, Nanos now, Nanos ready, double bytes, std::span<const Path> paths);
  void push(LaneId lane, Nanos now, Nanos ready, double bytes, const Path& path) {
    push(lane, now, ready, bytes, {&path, 1});
  }

  struct Finished {
    LaneId lane;
    Nanos started;
    Nanos arrived;  // perhaps later than now, by the latency
  };
  // To be called for what the clock says; tells which job is over, if one is.
  std::optional<Finished> flow_ends(FlowId flow, std::uint32_t generation, Nanos now);
  std::optional<Finished> lane_goes_on(LaneId lane, Nanos now);

  // Bytes that passed a link, by level and link, with directions.
  [[nodiscard]] std::vector<cost::LinkUse> traffic() const;

 private:
  struct Job {
    Nanos ready;
    double bytes;
    std::span<const Path> paths;  // that are still to go
  };
  enum class State { kIdle, kNotReady, kMoving, kArriving };
  struct Lane {
    Nanos latency;
    bool waits_latency;
    State state = State::kIdle;
    Nanos started{0};
    Fifo<Job> jobs;
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
  std::vector<std::size_t> first_link_;  // by level, and one more
  std::vector<double> bandwidths_;
  FairLinks links_;
  std::vector<Lane> lanes_;
  std::vector<LaneId> lane_of_;  // by flow
};

}  // namespace pipedream::simulate
