#include "profiler/company.h"

#include <chrono>
#include <optional>

#include "model/threads.h"
#include "profiler/passes.h"

namespace pipedream::profiler {

Company::Company(const model::Network& network, const ProfileOptions& options,
                 const std::shared_ptr<model::MemoryLedger>& ledger,
                 const std::vector<place::Placement>& placements) {
  const auto others = static_cast<std::size_t>(options.workers - 1);
  failures_.resize(others);
  for (std::size_t i = 0; i < others; ++i)
    threads_.emplace_back([this, &network, options, ledger, i,
                           mine = placements.empty() ? place::Placement() : placements[i + 1]] {
      const auto bound = place::bound_to(mine);
      run(network, options, ledger, i);
    });
  wait_for_all();
}

Company::~Company() { end(); }

void Company::wait_for_all() const {
  for (std::size_t there = 0; there < threads_.size(); there = joined_) joined_.wait(there);
}

void Company::cut(std::int64_t samples) {
  joined_ = 0;
  samples_ = samples;
  wait_for_all();
}

void Company::end() {
  over_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Company::leave() {
  end();
  for (const std::exception_ptr& failure : failures_)
    if (failure) std::rethrow_exception(failure);
}

void Company::run(const model::Network& network, const ProfileOptions& options,
                  const std::shared_ptr<model::MemoryLedger>& ledger, std::size_t number) {
  std::optional<std::int64_t> running;  // samples per pass that this thread has joined with
  const auto join = [&](std::int64_t samples) {
    if (running == samples) return;
    running = samples;
    ++joined_;
    joined_.notify_one();
  };
  try {
    const model::MemoryMeter meter(ledger, options.device);
    model::use_threads(options.threads);
    WholeModel model(network, options.device, options.seed, options.precision);
    if (options.make_input) model.take_inputs_from(options.make_input);
    const Update update = options.make_update ? options.make_update() : Update();
    const Values inputs = model.sample_inputs(0);
    for (std::int64_t pass = 0; !over_; ++pass) {
      const std::int64_t samples = samples_;
      join(samples);
      if (samples > 0)
        (void)run_whole(model, first_samples(inputs, samples), pass, {});
      else
        (void)run_whole(model, inputs, pass, update);
    }
  } catch (...) {
    failures_[number] = std::current_exception();
  }
  // A thread that failed joins all the same, so that wait_for_all() returns.
  while (!over_) {
    join(samples_);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace pipedream::profiler
