#include <algorithm>
#include <chrono>

#include "cluster/cluster_file.h"
#include "cluster/local.h"
#include "core/file.h"
#include "core/nearest.h"
#include "core/text.h"
#include "library/handles.h"
#include "report/plan_table.h"
#include "systems/planning.h"
#include "train/this_machine.h"

namespace pipedream {
inline namespace v1 {
namespace {

// The meaning of PlanOptions::prefer. Throws BadUsage, with the nearest name, for any other text.
systems::Prefer prefer_named(const std::string& name) {
  const std::vector<std::string>& names = systems::prefer_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw BadUsage("`prefer`: there is no '" + printable(name) + "'" + suggestion(name, names));
  return static_cast<systems::Prefer>(found - names.begin());
}

systems::Wishes wishes_of(const PlanOptions& options) {
  systems::Wishes wishes;
  wishes.prefer = prefer_named(options.prefer);
  if (options.memory) wishes.memory = Bytes{*options.memory};
  wishes.optimiser_copies = systems::optimiser_copies(options.optimiser);
  wishes.straight = options.straight;
  wishes.recompute = options.recompute;
  wishes.microbatches = options.microbatches;
  wishes.accumulate = options.accumulate;
  wishes.stages = options.stages;
  wishes.split = options.split;
  return wishes;
}

void check_options(const PlanOptions& options) {
  const auto check = [](std::int64_t found, const std::string& wanted) {
    if (found < 1) throw BadUsage("plan: wanted " + wanted + ", found " + std::to_string(found));
  };
  check(options.memory.value_or(1), "a memory of at least one byte");
  check(options.microbatches.value_or(1), "at least one microbatch");
  check(options.accumulate, "at least one minibatch per update");
  check(options.stages.value_or(1), "at least one stage");
}

void check_workers(int workers) {
  if (workers < 1 || workers > cluster::kMostWorkers)
    throw BadUsage("wanted 1 to " + std::to_string(cluster::kMostWorkers) + " workers, found " +
                   std::to_string(workers));
}

Cluster handle_of(cluster::Cluster cluster) {
  return Cluster(std::make_shared<Cluster::Impl>(Cluster::Impl{std::move(cluster)}));
}

}  // namespace

Plan plan(const Profile& profile, const Cluster& cluster, const PlanOptions& options) {
  check_options(options);
  const auto began = std::chrono::steady_clock::now();
  const profile::Profile& costs = profile.impl().profile;
  const cluster::Cluster& machines = cluster.impl().cluster;
  auto made = std::make_shared<Plan::Impl>();
  made->graph = costs.graph;
  try {
    const systems::Model model(costs);
    const systems::Planned planned =
        systems::plan_with(options.system, model, machines, wishes_of(options)).planned;
    const Seconds took = std::chrono::steady_clock::now() - began;
    made->file = systems::plan_file_of(planned, costs, machines.workers(), took);
  } catch (const BadValue& bad) {
    throw BadUsage(std::string("plan: ") + bad.what());
  }
  return Plan(std::move(made));
}

Plan plan(const Profile& profile, int workers, const PlanOptions& options) {
  check_workers(workers);
  return plan(profile, handle_of(train::this_machine_for(profile.impl().profile, workers)),
              options);
}

Cluster Cluster::load(const std::filesystem::path& file) {
  return handle_of(cluster::read_cluster(file));
}

Cluster Cluster::this_machine(int workers) {
  check_workers(workers);
  return handle_of(cluster::this_machine(workers, std::nullopt));
}

int Cluster::workers() const { return impl_->cluster.workers(); }

void Plan::save(const std::filesystem::path& file) const {
  write_file_atomically(file, plan::to_json(impl_->file, impl_->graph));
}

Plan Plan::load(const std::filesystem::path& file, const Network& network) {
  const graph::Graph& graph = network.impl().network.graph;
  return Plan(std::make_shared<Impl>(Impl{systems::read_known_plan(file, graph), graph}));
}

std::string Plan::table() const { return report::plan_file_table(impl_->file, impl_->graph); }
const std::string& Plan::system() const { return impl_->file.plan.system; }
std::string Plan::config() const { return plan::config_text(impl_->file.plan); }
int Plan::workers() const { return plan::worker_count(impl_->file.plan); }
std::optional<double> Plan::samples_per_second() const {
  return impl_->file.predicted.samples_per_second;
}
std::optional<double> Plan::simulated_samples_per_second() const {
  const plan::PlanFile& file = impl_->file;
  const std::optional<double> seconds = file.predicted.simulated_seconds_per_minibatch;
  if (!file.batch || !seconds) return std::nullopt;
  return static_cast<double>(*file.batch) / *seconds;
}

}  // namespace v1
}  // namespace pipedream
