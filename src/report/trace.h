// A timeline as a file for trace viewers, such as ui.perfetto.dev and chrome://tracing.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "timeline/timeline.h"

namespace pipedream::report {

struct TraceOptions {
  std::string title;
  // Returns the bytes that a transfer, averaging or push moves, or nullopt if that is not known.
  // May be empty: then no event has bytes.
  std::function<std::optional<Bytes>(const timeline::Event&)> bytes;
};

// Returns JSON in the Trace Event Format. Each worker is a process. Its threads are compute, the
// sends to each other worker, the receives from each other worker, the averaging of each stage,
// pushes, and loading. Every event of the timeline is a complete event ("X") of one thread, in the
// order of the timeline. Times are in microseconds, exact to the nanosecond. Viewers require that
// events of one thread do not overlap: if two would, the second goes to an additional thread.
[[nodiscard]] std::string trace_json(const timeline::Timeline& timeline,
                                     const TraceOptions& options = {});

// Returns the events of a trace's compute lanes, as trace_json() wrote them, in their order.
// `name` is that of the file, for messages. Throws BadFile if it is no trace. Events of other
// programs are left out.
[[nodiscard]] timeline::Timeline compute_events_of(const std::string& trace,
                                                   const std::string& name);

}  // namespace pipedream::report
