// Chains of equal layers, and plans for them. Only *_test.cpp files include this.
#pragma once

#include <stdexcept>
#include <string>

#include "systems/planning.h"

namespace pipedream::systems {

// A chain of equal layers, 1 ms forward and 2 ms backward each. All sizes are bytes per layer.
struct Chain {
  int layers = 4;
  std::int64_t weights = 10;
  std::int64_t out = 1;
  std::int64_t stash = 0;
};

inline profile::Profile profile_of(const Chain& chain) {
  graph::Builder builder;
  profile::Profile profile;
  profile.model = "chain";
  profile.batch = 64;
  builder.add_input("data", {{"out", {}, Bytes{0}}});
  profile.costs.emplace_back();
  for (int i = 0; i < chain.layers; ++i) {
    builder.add_layer("layer" + std::to_string(i), "", {{"out", {}, Bytes{chain.out}}});
    builder.add_edge(LayerId{i}, 0, LayerId{i + 1});
    profile::LayerCost cost;
    cost.forward = std::chrono::milliseconds(1);
    cost.backward = std::chrono::milliseconds(2);
    cost.weights = Bytes{chain.weights};
    cost.stash = Bytes{chain.stash};
    profile.costs.push_back(cost);
  }
  profile.graph = std::move(builder).build();
  return profile;
}

inline constexpr Bytes kPlenty{1 << 30};
inline constexpr double kFast = 1e12;  // bytes per second; transfers take almost no time

inline cluster::Cluster flat(int workers, double bandwidth = kFast) {
  return {"flat",
          {{.name = "server", .count = workers, .bandwidth = {bandwidth}}},
          std::vector<cluster::Device>(static_cast<std::size_t>(workers), {kPlenty, 1})};
}

inline cluster::Cluster two_servers_of_two() {
  return {"servers",
          {{.name = "server", .count = 2, .bandwidth = {kFast}},
           {.name = "network", .count = 2, .bandwidth = {kFast}, .shared = true}},
          std::vector<cluster::Device>(4, {kPlenty, 1})};
}

inline Result plan_chain(const std::string& system, const Chain& chain,
                         const cluster::Cluster& cluster, const Wishes& wishes = {}) {
  const profile::Profile profile = profile_of(chain);
  const Model model(profile);
  return plan_for(find_system(system), model, cluster, wishes);
}

// Returns the plan of plan_chain(). Throws if it refuses.
inline Planned plan_of(const std::string& system, const Chain& chain,
                       const cluster::Cluster& cluster, const Wishes& wishes = {}) {
  Result result = plan_chain(system, chain, cluster, wishes);
  if (auto* refusal = std::get_if<plan::Refusal>(&result))
    throw std::runtime_error(system + " refused: " + refusal->why);
  return std::get<Planned>(std::move(result));
}

// Returns why plan_chain() finds no plan, or "there is a plan".
inline std::string reason(const std::string& system, const Chain& chain,
                          const cluster::Cluster& cluster, const Wishes& wishes) {
  Result result = plan_chain(system, chain, cluster, wishes);
  const auto* refusal = std::get_if<plan::Refusal>(&result);
  return refusal == nullptr ? "there is a plan" : refusal->why;
}

}  // namespace pipedream::systems
