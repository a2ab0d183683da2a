#include "cli/train_request.h"

#include <algorithm>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "core/machine.h"
#include "model/device.h"
#include "model/label_smoothing.h"
#include "plan/plan_file.h"
#include "profile/device_names.h"
#include "profile/profile_file.h"

namespace pipedream::cli {

model::Network network_of(const TrainFlags& flags, const model::NetworkEntry& entry) {
  model::Network network =
      entry.make(model::Options(entry.options, flags.options), flags.batch.value_or(entry.batch));
  if (flags.label_smoothing > 0) model::smooth_labels(network, flags.label_smoothing);
  return network;
}

runtime::Computing computing_of(const TrainFlags& flags, const model::Network& network) {
  runtime::ComputingNames planned;
  if (!flags.plan.empty()) {
    const plan::PlanFile file = plan::read_plan(flags.plan, network.graph);
    planned = {file.device, file.precision};
  } else if (!flags.profile.empty()) {
    const profile::Profile profile = profile::read_profile(flags.profile);
    planned = {profile::kind_of_device(profile.device), profile.precision};
  }
  return runtime::choose_computing({flags.device, flags.precision}, planned);
}

int workers_with_room(const TrainFlags& flags, const runtime::Computing& computing) {
  return computing.device.is_cpu() ? std::max(1, cores() / flags.threads)
                                   : model::gpus_of(computing.device);
}

train::Request request_of(const TrainFlags& flags) {
  train::Request request;
  request.epochs = flags.epochs.value_or(1);
  request.minibatches = flags.minibatches;
  request.evaluate = !flags.no_evaluation;
  request.evaluate_every = flags.evaluate_every;
  request.evaluation_samples = flags.evaluation_samples;
  request.goal = goal_of(flags);
  request.seed = flags.seed;
  request.threads = flags.threads;
  request.bind_cores = flags.cores == kOwnCores;
  request.computing = {flags.device, flags.precision};
  request.optimiser = optimiser_options(flags);
  request.rate = rate_options(flags);
  request.clip = flags.clip;
  request.patience = flags.patience;
  request.vertical_sync = flags.vertical_sync;
  request.no_stash = flags.no_stash;
  request.exchange = wishes_of(flags).exchange.value_or(Exchange::kRing);
  request.link = link_of(flags);
  request.is_stopped = StopOnSignal::was_asked;
  request.slow_after = from_seconds(flags.slow_after);
  request.initial = {flags.initial_weights, flags.fresh};
  request.keep_timeline = flags.wants_any() || !flags.out.empty() || !flags.page.empty();
  request.stall_folder = flags.out.empty()
                             ? std::filesystem::temp_directory_path() / "pipedream-stall"
                             : std::filesystem::path(flags.out);
  return request;
}

train::PlanRequest plan_request_of(const TrainFlags& flags) {
  systems::Wishes wishes = wishes_of(flags);
  wishes.optimiser_copies = train::copies_of(optimiser_options(flags));
  return {.system = flags.system,
          .wishes = wishes,
          .plan = flags.plan,
          .profile = flags.profile,
          .cluster = flags.cluster,
          .schedule = flags.schedule,
          .profile_seconds = flags.profile_seconds,
          .forgets_prediction = flags.forgets_prediction};
}

}  // namespace pipedream::cli
