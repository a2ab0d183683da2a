// What the library's handles stand for.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <pipedream/pipedream.h>

#include "cluster/cluster.h"
#include "library/module_layer.h"
#include "model/network.h"
#include "plan/plan_file.h"
#include "profile/profile.h"
#include "transport/mpi.h"

namespace pipedream {
inline namespace v1 {

struct Network::Impl {
  model::Network network;
  // By layer of the graph; null for inputs. The network's specs refer to them.
  std::vector<std::shared_ptr<const library::Blueprint>> blueprints;
};

struct Profile::Impl {
  profile::Profile profile;
};

struct Cluster::Impl {
  cluster::Cluster cluster;
};

struct Plan::Impl {
  plan::PlanFile file;
  graph::Graph graph;  // that its layers are of
};

struct World::Impl {
  std::optional<transport::MpiWorld> mpi;  // none where the program was started plainly
};

}  // namespace v1

namespace library {

// The MPI of that world. Null if there is no world, or if it is one process without MPI.
[[nodiscard]] transport::MpiWorld* mpi_of(World* world);

}  // namespace library
}  // namespace pipedream
