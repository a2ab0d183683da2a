// Other workers of the same machine, who compute while one of them is measured.
#pragma once

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "model/memory_meter.h"
#include "profiler/profiler.h"

namespace pipedream::profiler {

// Runs the model's passes on options.workers − 1 threads until it leaves, and counts their memory
// in the ledger. The network must outlive it.
class Company {
 public:
  // Returns when all of them compute.
  Company(const model::Network& network, const ProfileOptions& options,
          const std::shared_ptr<model::MemoryLedger>& ledger);
  ~Company();
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  // Returns when all of them run so many samples a pass, without updates.
  void cut(std::int64_t samples);
  // Ends them; throws what one of them threw.
  void leave();

 private:
  // Until all have begun a pass of the kind that is wanted, or have failed.
  void wait_for_all() const;
  void end();
  void run(const model::Network& network, const ProfileOptions& options,
           const std::shared_ptr<model::MemoryLedger>& ledger, std::size_t number);

  std::atomic<bool> over_{false};
  std::atomic<std::int64_t> samples_{0};      // of a pass that is wanted; 0: all
  std::atomic<std::size_t> joined_{0};        // how many run what is wanted
  std::vector<std::exception_ptr> failures_;  // one entry each
  std::vector<std::thread> threads_;
};

}  // namespace pipedream::profiler
