#include "profiler/company.h"

#include "model/threads.h"
#include "profiler/passes.h"

namespace pipedream::profiler {

Company::Company(const model::Network& network, const ProfileOptions& options,
                 const std::shared_ptr<model::MemoryLedger>& ledger) {
  const auto others = static_cast<std::size_t>(options.workers - 1);
  failures_.resize(others);
  for (std::size_t i = 0; i < others; ++i)
    threads_.emplace_back(
        [this, &network, options, ledger, i] { run(network, options, ledger, i); });
  for (std::size_t there = 0; there < others; there = computing_) computing_.wait(there);
}

Company::~Company() { end(); }

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
  auto count_in = [this, counted = false]() mutable {
    if (counted) return;
    counted = true;
    ++computing_;
    computing_.notify_one();
  };
  try {
    const model::MemoryMeter meter(ledger, options.device);
    model::use_threads(options.threads);
    WholeModel model(network, options.device, options.seed, options.precision);
    const Update update = options.make_update ? options.make_update() : Update();
    const Values inputs = model.sample_inputs(0);
    for (std::int64_t pass = 0; !over_; ++pass) {
      count_in();
      if (const std::int64_t samples = samples_; samples > 0)
        (void)run_whole(model, first_samples(inputs, samples), pass, {});
      else
        (void)run_whole(model, inputs, pass, update);
    }
  } catch (...) {
    failures_[number] = std::current_exception();
  }
  count_in();
}

}  // namespace pipedream::profiler
