// The contents of the handle classes in pipedream.h (Network, Profile, Cluster, Plan, World).
// docs/library.md explains the handles.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include <pipedream/pipedream.h>

#include "cluster/cluster.h"
#include "model/network.h"
#include "plan/plan_file.h"
#include "profile/profile.h"
#include "transport/mpi.h"

namespace pipedream {
inline namespace v1 {

struct Network::Impl {
  model::Network network;
  // What with_weights() gave, by index of the layer, and how these layers are made without it.
  std::map<std::size_t, Weights> starts{};
  std::map<std::size_t, decltype(model::LayerSpec::make_whole)> bases{};
};

struct Profile::Impl {
  profile::Profile profile;
};

struct Cluster::Impl {
  cluster::Cluster cluster;
};

struct Plan::Impl {
  plan::PlanFile file;
  graph::Graph graph;  // the graph of the network that the plan is for
};

struct World::Impl {
  std::optional<transport::MpiWorld> mpi;  // empty if the program was not started by mpirun
};

}  // namespace v1

namespace library {

// Throws BadUsage if minibatches of the network cannot have `batch` samples.
void check_batch(const std::string& network, std::int64_t batch);

// Returns the MPI of `world`. Null if `world` is null, or if it is one process without MPI.
[[nodiscard]] transport::MpiWorld* mpi_of(World* world);

}  // namespace library
}  // namespace pipedream
