// A timeline for trace viewers: ui.perfetto.dev, chrome://tracing.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "timeline/timeline.h"

namespace pipedream::report {

struct TraceOptions {
  std::string title;
  // What a transfer, an averaging or a push moves; empty, or nullopt: not known.
  std::function<std::optional<Bytes>(const timeline::Event&)> bytes;
};

// JSON in the Trace Event Format: a process per worker; threads for compute, for the sends to and
// the receives from each other worker, for averaging, pushes and loading. Every event is a complete
// event ("X") of one of them, in the order of the timeline, with times in microseconds, exact to
// the nanosecond. Events of one thread never overlap, as the viewers require: where the timeline
// has two at a time, a further thread takes the second.
[[nodiscard]] std::string trace_json(const timeline::Timeline& timeline,
                                     const TraceOptions& options = {});

}  // namespace pipedream::report
