#include "model/memory_meter.h"

#include <algorithm>
#include <mutex>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace pipedream::model {

// libtorch's allocators report every allocation to the hook found in this thread-local slot.
class MemoryMeter::Hook : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t size, std::size_t, std::size_t, c10::Device) override {
    const std::lock_guard lock(mutex_);
    live_ += size;
    peak_ = std::max(peak_, live_);
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::int64_t live() const {
    const std::lock_guard lock(mutex_);
    return live_;
  }
  std::int64_t peak() const {
    const std::lock_guard lock(mutex_);
    return peak_;
  }

 private:
  mutable std::mutex mutex_;
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
};

struct MemoryMeter::Installed {
  c10::DebugInfoGuard guard;
};

MemoryMeter::MemoryMeter()
    : hook_(std::make_shared<Hook>()),
      installed_(new Installed{{c10::DebugInfoKind::PROFILER_STATE, hook_}}) {}

MemoryMeter::~MemoryMeter() = default;

std::int64_t MemoryMeter::live() const { return hook_->live(); }
std::int64_t MemoryMeter::peak() const { return hook_->peak(); }

}  // namespace pipedream::model
