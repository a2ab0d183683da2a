#include "runtime/run.h"

#include <exception>
#include <mutex>
#include <thread>

#include "transport/in_process.h"

namespace pipedream::runtime {
namespace {

void collect(Worker& worker, const model::Network& network, const plan::Plan& plan,
             RunResult& result) {
  for (const timeline::Event& event : worker.events()) result.timeline.events.push_back(event);
  for (const auto& [item, loss] : worker.losses()) {
    const auto index = static_cast<std::size_t>(item.minibatch);
    if (result.losses.size() <= index) result.losses.resize(index + 1);
    result.losses[index] = loss;
  }
  for (auto& [id, stage] : worker.stages()) {
    result.peak_versions[id] = stage.weights().peak();
    result.peak_items[id] = stage.peak_items();
    std::size_t next = 0;
    for (const LayerId layer : plan.stage(id).layers)
      for (const model::TensorSpec& spec : network.spec(layer).parameters)
        result.weights[spec.name] = stage.weights().newest_weights()[next++];
  }
}

}  // namespace

void run_workers(int count, const std::function<void(int)>& body,
                 const std::function<void()>& abort) {
  std::once_flag once;
  std::exception_ptr first;
  const auto guarded = [&](int worker) {
    try {
      body(worker);
    } catch (...) {
      std::call_once(once, [&] {
        first = std::current_exception();
        abort();
      });
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int worker = 0; worker < count; ++worker) threads.emplace_back(guarded, worker);
  }
  if (first) std::rethrow_exception(first);
}

RunResult run_on_threads(const std::vector<schedule::Program>& programs,
                         const model::Network& network, const plan::Plan& plan,
                         const RunOptions& options) {
  const auto endpoints = transport::connect_in_process(plan::worker_count(plan));
  std::vector<std::unique_ptr<Worker>> workers(programs.size());
  const auto began = std::chrono::steady_clock::now();
  run_workers(
      static_cast<int>(programs.size()),
      [&](int index) {
        const schedule::Program& program = programs[static_cast<std::size_t>(index)];
        auto& worker = workers[static_cast<std::size_t>(index)];
        worker = std::make_unique<Worker>(program, network, plan, options,
                                          *endpoints[program.worker.index()], began);
        worker->run();
      },
      [&] { endpoints.front()->abort(); });
  RunResult result;
  for (const auto& worker : workers) collect(*worker, network, plan, result);
  return result;
}

}  // namespace pipedream::runtime
