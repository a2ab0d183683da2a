// A timeline sorted into what a picture or a trace shows of each worker.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "timeline/timeline.h"

namespace pipedream::report {

// What a worker does side by side: compute, and under it what passes its links and its reader.
enum class Row { kCompute, kSend, kReceive, kAverage, kLoad };
inline constexpr std::size_t kRows = 5;

[[nodiscard]] Row row_of(const schedule::Op& op);

// The stage that an op runs for, the item it is about, and the weights it uses; none where it has
// none. Transfers belong to two stages, and so to none.
[[nodiscard]] std::optional<StageId> stage_of(const schedule::Op& op);
[[nodiscard]] std::optional<schedule::Item> item_of(const schedule::Op& op);
[[nodiscard]] std::optional<WeightVersion> weights_of(const schedule::Op& op);

// One worker's part. Keeps references to the timeline's events.
struct Lane {
  WorkerId worker;
  std::vector<StageId> stages;                                  // that it runs, ascending
  std::array<std::vector<const timeline::Event*>, kRows> rows;  // by their start

  [[nodiscard]] const std::vector<const timeline::Event*>& row(Row which) const {
    return rows[static_cast<std::size_t>(which)];
  }
};

// Every worker that has an event, ascending.
[[nodiscard]] std::vector<Lane> lanes_of(const timeline::Timeline& timeline);

}  // namespace pipedream::report
