#include <cmath>

#include "core/file.h"
#include "library/handles.h"
#include "model/device.h"
#include "profile/profile_file.h"
#include "report/profile_table.h"
#include "train/profiling.h"
#include "train/together.h"

namespace pipedream {
inline namespace v1 {
namespace {

constexpr std::size_t kAllRows = SIZE_MAX;

profile::Profile measure(const Network& network, const ProfileOptions& options) {
  profiler::ProfileOptions wanted;
  wanted.device = model::device_of_worker(model::device_named(options.device), 0);
  wanted.precision = model::precision_named(options.precision);
  wanted.threads = options.threads;
  wanted.seed = options.seed;
  wanted.budget = std::chrono::duration<double>(options.seconds);
  wanted.workers = options.workers;
  wanted.bind_cores = options.bind_cores;
  if (options.progress) wanted.progress = options.progress;
  return train::profile_for_training(network.impl().network, wanted,
                                     {.kind = train::optimiser_kind(options.optimiser)});
}

void check_options(const ProfileOptions& options) {
  if (!(options.seconds > 0) || !std::isfinite(options.seconds))
    throw BadUsage("profile: wanted seconds above 0, found " + std::to_string(options.seconds));
  if (options.workers < 1 || options.threads < 1)
    throw BadUsage("profile: wanted at least one worker and one thread, found " +
                   std::to_string(options.workers) + " and " + std::to_string(options.threads));
}

}  // namespace

Profile profile(const Network& network, const ProfileOptions& options) {
  transport::MpiWorld* const mpi = library::mpi_of(options.world);
  train::agree(mpi, [&] { check_options(options); });
  const std::string text =
      train::made_by_first(mpi, [&] { return profile::to_json(measure(network, options)); });
  return Profile(std::make_shared<Profile::Impl>(
      Profile::Impl{profile::parse_profile_json(text, "the first process's profile")}));
}

void Profile::save(const std::filesystem::path& file) const {
  write_file_atomically(file, profile::to_json(impl_->profile));
}

Profile Profile::load(const std::filesystem::path& file) {
  return Profile(std::make_shared<Impl>(Impl{profile::read_profile(file)}));
}

std::string Profile::table() const { return report::profile_table(impl_->profile, kAllRows); }

}  // namespace v1
}  // namespace pipedream
