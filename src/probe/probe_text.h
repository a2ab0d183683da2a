// What was measured of a cluster as tables, as JSON, and as a cluster file with comments.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "probe/probe.h"

namespace pipedream::probe {

// Tables for people: the links, averaging, the workers.
[[nodiscard]] std::string probe_table(const Probed& probed);

// The same as JSON, in bytes and seconds (docs/formats.md#results).
[[nodiscard]] nlohmann::ordered_json probe_json(const Probed& probed);

// The cluster file. Its comments say what was measured; `origin` is their first line, which says
// when and how. parse_cluster() reads the inferred cluster back.
[[nodiscard]] std::string cluster_file(const Probed& probed, const std::string& origin);

}  // namespace pipedream::probe
