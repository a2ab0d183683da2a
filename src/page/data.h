// What a page shows of one run, real or simulated, as the JSON that web/*.js reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cluster/cluster.h"
#include "plan/plan.h"
#include "profile/profile.h"
#include "simulate/simulate.h"
#include "systems/comparison.h"
#include "timeline/timeline.h"

namespace pipedream::page {

// A timeline with its heading.
struct Named {
  std::string name;
  timeline::Timeline timeline;
};

// One run. Everything but `name` and `result` may be missing, and is then left out of the page.
struct Run {
  std::string name;
  bool is_measured = false;
  nlohmann::ordered_json result;  // what `train --json` or `simulate --json` prints
  // What plan files have of it (docs/formats.md#plan), and the sizes of what passes between stages.
  nlohmann::ordered_json plan{};
  nlohmann::ordered_json cluster{};
  nlohmann::ordered_json links{};
  std::vector<Named> timelines{};
  std::string metrics{};            // the content of metrics.jsonl
  nlohmann::ordered_json others{};  // what the network would do with other systems
};

// Return the members of Run of the same name.
[[nodiscard]] nlohmann::ordered_json plan_json(const plan::Plan& plan,
                                               const profile::Profile& profile);
[[nodiscard]] nlohmann::ordered_json cluster_json(const cluster::Cluster& cluster);
[[nodiscard]] nlohmann::ordered_json links_json(const systems::Simulated& simulated,
                                                const cluster::Cluster& cluster);
[[nodiscard]] nlohmann::ordered_json others_json(const systems::SimulatedChoice& choice);

[[nodiscard]] nlohmann::ordered_json to_json(const Run& run);

}  // namespace pipedream::page
