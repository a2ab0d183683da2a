#include "model/memory_meter.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace pipedream::model {

namespace {

// What one meter has counted.
class Count {
 public:
  void add(std::int64_t size) {
    const std::lock_guard lock(mutex_);
    live_ += size;
    peak_ = std::max(peak_, live_);
  }
  std::int64_t live() const {
    const std::lock_guard lock(mutex_);
    return live_;
  }
  std::int64_t peak() const {
    const std::lock_guard lock(mutex_);
    return peak_;
  }
  void restart_peak() {
    const std::lock_guard lock(mutex_);
    peak_ = live_;
  }

 private:
  mutable std::mutex mutex_;
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace

class MemoryLedger {
 public:
  void report(void* memory, std::int64_t size, const std::shared_ptr<Count>& count) {
    std::shared_ptr<Count> owner = count;
    {
      const std::lock_guard lock(mutex_);
      if (size >= 0) {
        owners_[memory] = count;
      } else {
        const auto found = owners_.find(memory);
        if (found == owners_.end()) return;  // older than any meter
        owner = std::move(found->second);
        owners_.erase(found);
      }
    }
    owner->add(size);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<void*, std::shared_ptr<Count>> owners_;
};

std::shared_ptr<MemoryLedger> make_memory_ledger() { return std::make_shared<MemoryLedger>(); }

// libtorch's allocators report every allocation to the hook found in this thread-local slot.
class MemoryMeter::Hook : public c10::MemoryReportingInfoBase {
 public:
  explicit Hook(std::shared_ptr<MemoryLedger> ledger) : ledger_(std::move(ledger)) {}
  void reportMemoryUsage(void* memory, std::int64_t size, std::size_t, std::size_t,
                         c10::Device) override {
    if (ledger_)
      ledger_->report(memory, size, count_);
    else
      count_->add(size);
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::int64_t live() const { return count_->live(); }
  std::int64_t peak() const { return count_->peak(); }
  void restart_peak() { count_->restart_peak(); }

 private:
  std::shared_ptr<MemoryLedger> ledger_;
  std::shared_ptr<Count> count_ = std::make_shared<Count>();
};

struct MemoryMeter::Installed {
  c10::DebugInfoGuard guard;
};

MemoryMeter::MemoryMeter(std::shared_ptr<MemoryLedger> ledger)
    : hook_(std::make_shared<Hook>(std::move(ledger))),
      installed_(new Installed{{c10::DebugInfoKind::PROFILER_STATE, hook_}}) {}

MemoryMeter::~MemoryMeter() = default;

std::int64_t MemoryMeter::live() const { return hook_->live(); }
std::int64_t MemoryMeter::peak() const { return hook_->peak(); }
void MemoryMeter::restart_peak() { hook_->restart_peak(); }

}  // namespace pipedream::model
