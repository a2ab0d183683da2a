#include "train/evaluating.h"

#include <vector>

#include "runtime/run.h"
#include "runtime/worker.h"
#include "train/optimiser_options.h"
#include "train/scoring.h"

namespace pipedream::train {
namespace {

// The longest wait for another worker, which may have a large minibatch to compute.
constexpr std::chrono::minutes kLongestMinibatch{10};

// Every worker has all layers, and they take minibatches in turn.
plan::Plan plan_of(const EvaluationCase& of) {
  plan::Plan plan{.system = "dp-bsp"};
  plan::Stage& stage = plan.stages.emplace_back();
  for (const LayerId layer : of.network.graph.order())
    if (!of.network.graph.layer(layer).is_input) stage.layers.push_back(layer);
  for (int worker = 0; worker < of.workers; ++worker) stage.workers.push_back({worker});
  return plan;
}

runtime::Job job_of(const EvaluationCase& of, const plan::Plan& plan) {
  runtime::Job job{.network = of.network, .plan = plan};
  job.precision = of.computing.precision;
  job.threads = of.threads;
  job.bind_cores = of.bind_cores;
  job.patience = kLongestMinibatch;
  if (!of.computing.device.is_cpu())
    job.devices = runtime::devices_of_workers(
        of.computing.device, std::vector<int>(static_cast<std::size_t>(of.workers)));
  job.make_optimiser = [] { return make_optimiser({}); };  // every worker has one; never used
  return job;
}

}  // namespace

runtime::Score evaluate(const EvaluationCase& of) {
  const plan::Plan plan = plan_of(of);
  const runtime::Job job = job_of(of, plan);
  const ScoredData scored{of.data, of.samples, of.network.batch};
  runtime::Score score;
  runtime::run_on_threads(
      of.workers, std::nullopt,
      [&](const runtime::Seat& seat) {
        runtime::Worker worker(job, seat.me, seat.channels, seat.clock,
                               [](const runtime::Loss&) {});
        runtime::load_weights(worker, of.weights);
        const runtime::Score all =
            score_on(scored, job, worker, seat.channels.control, of.progress);
        if (seat.me == WorkerId{0}) score = all;
      },
      job.threads_to_bind());
  return score;
}

}  // namespace pipedream::train
