// Other workers of the machine, which compute while one worker is measured, since cores share
// caches and memory.
#pragma once

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "model/memory_meter.h"
#include "place/placement.h"
#include "profiler/profiler.h"

namespace pipedream::profiler {

// Runs passes of the network on `options.workers` − 1 threads until leave() or destruction. Each
// thread has a model, an optimiser and a memory meter (with `ledger`) of its own. The network must
// outlive the company. Used from one thread, the one that measures.
class Company {
 public:
  // Starts the threads. Returns when each has begun its first pass, or failed. `placements` has the
  // cores of all workers, the first of which is the one that is measured; empty if the system
  // chooses.
  Company(const model::Network& network, const ProfileOptions& options,
          const std::shared_ptr<model::MemoryLedger>& ledger,
          const std::vector<place::Placement>& placements);
  ~Company();
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  // From now on passes have `samples` samples, and no update. Returns when each thread has begun
  // such a pass, or failed. `samples` must differ from before.
  void cut(std::int64_t samples);
  // Ends the threads. Rethrows the exception of one that failed.
  void leave();

 private:
  // Returns when every thread has begun a pass with the samples wanted, or has failed.
  void wait_for_all() const;
  void end();
  // What thread `number` does, on the cores that it has been bound to.
  void run(const model::Network& network, const ProfileOptions& options,
           const std::shared_ptr<model::MemoryLedger>& ledger, std::size_t number);

  std::atomic<bool> over_{false};             // threads end when this is true
  std::atomic<std::int64_t> samples_{0};      // samples wanted per pass; 0: the whole minibatch
  std::atomic<std::size_t> joined_{0};        // threads that run passes of `samples_`, or failed
  std::vector<std::exception_ptr> failures_;  // one per thread; null if it has not failed
  std::vector<std::thread> threads_;
};

}  // namespace pipedream::profiler
