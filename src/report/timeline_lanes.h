// A timeline sorted by worker and by row, as pictures show it.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "timeline/timeline.h"

namespace pipedream::report {

// The rows of a worker, which run in parallel: compute on top, and below it communication and the
// reading of data. Pushes to parameter servers are in the row kAverage.
enum class Row { kCompute, kSend, kReceive, kAverage, kLoad };
inline constexpr std::size_t kRows = 5;

[[nodiscard]] Row row_of(const schedule::Op& op);

// Return the stage, the item and the weight version that an op names, or nullopt if it names none.
// A Send or Recv concerns two stages and has no stage of its own.
[[nodiscard]] std::optional<StageId> stage_of(const schedule::Op& op);
[[nodiscard]] std::optional<schedule::Item> item_of(const schedule::Op& op);
[[nodiscard]] std::optional<WeightVersion> weights_of(const schedule::Op& op);

// The events of one worker. Points to events of the timeline, which must outlive it.
struct Lane {
  WorkerId worker;
  std::vector<StageId> stages;                                  // stages of its ops, ascending
  std::array<std::vector<const timeline::Event*>, kRows> rows;  // each row is sorted by start

  [[nodiscard]] const std::vector<const timeline::Event*>& row(Row which) const {
    return rows[static_cast<std::size_t>(which)];
  }
};

// Returns a lane for every worker that has an event, ascending by worker.
[[nodiscard]] std::vector<Lane> lanes_of(const timeline::Timeline& timeline);

// What a picture must know about a run as a whole.
struct RunShape {
  bool has_microbatches = false;  // minibatches are cut
  bool is_pipeline = false;       // there are several stages
  // No worker has an item in flight at any of its updates or fetches of weights, and the run goes
  // on after the first of them.
  bool flushes = false;
};
[[nodiscard]] RunShape shape_of(const std::vector<Lane>& lanes);

}  // namespace pipedream::report
