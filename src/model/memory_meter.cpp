#include "model/memory_meter.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace pipedream::model {

class MemoryLedger {
 public:
  // The bytes that one meter counts. Safe to use from any thread.
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

  // The allocator reports an allocation with its size, and a free with a negative size. `count` is
  // that of the calling thread's meter.
  void report(const void* memory, std::int64_t size, const std::shared_ptr<Count>& count) {
    if (size >= 0) {
      count->add(size);
      const std::lock_guard lock(mutex_);
      pieces_[memory] = {count, size};
    } else {
      take_off(memory, /*lives_on=*/false);
    }
  }
  // No meter counts `memory` from now on.
  void give_away(const void* memory) { take_off(memory, /*lives_on=*/true); }

 private:
  struct Piece {
    std::shared_ptr<Count> owner;  // null if given away
    std::int64_t size = 0;
  };
  // Subtracts `memory` from its owner's count, once. Forgets it unless it stays allocated
  // (`lives_on`).
  void take_off(const void* memory, bool lives_on) {
    Piece piece;
    {
      const std::lock_guard lock(mutex_);
      const auto found = pieces_.find(memory);
      if (found == pieces_.end()) return;  // allocated under no meter
      piece = found->second;
      found->second.owner = nullptr;
      if (!lives_on) pieces_.erase(found);
    }
    if (piece.owner) piece.owner->add(-piece.size);
  }

  std::mutex mutex_;
  std::unordered_map<const void*, Piece> pieces_;
};

std::shared_ptr<MemoryLedger> make_memory_ledger() { return std::make_shared<MemoryLedger>(); }

// libtorch's allocators report every allocation to the hook found in this thread-local slot.
class MemoryMeter::Hook : public c10::MemoryReportingInfoBase {
 public:
  Hook(std::shared_ptr<MemoryLedger> ledger, at::Device device)
      : ledger_(std::move(ledger)), device_(device) {}
  void reportMemoryUsage(void* memory, std::int64_t size, std::size_t, std::size_t,
                         c10::Device device) override {
    if (!counts(device.type())) return;
    if (ledger_)
      ledger_->report(memory, size, count_);
    else
      count_->add(size);
  }
  bool memoryProfilingEnabled() const override { return true; }

  bool counts(at::DeviceType kind) const { return kind == device_.type(); }
  std::int64_t live() const { return count_->live(); }
  std::int64_t peak() const { return count_->peak(); }
  void restart_peak() { count_->restart_peak(); }
  void give_away(const void* memory) {
    if (ledger_) ledger_->give_away(memory);
  }
  std::shared_ptr<void> take_over(std::int64_t bytes) {
    count_->add(bytes);
    return {nullptr, [count = count_, bytes](std::nullptr_t) { count->add(-bytes); }};
  }

  // The hook of the calling thread's meter; null if the thread has no meter.
  static Hook* current() {
    return dynamic_cast<Hook*>(c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE));
  }

 private:
  std::shared_ptr<MemoryLedger> ledger_;
  at::Device device_;
  std::shared_ptr<MemoryLedger::Count> count_ = std::make_shared<MemoryLedger::Count>();
};

struct MemoryMeter::Installed {
  c10::DebugInfoGuard guard;
};

MemoryMeter::MemoryMeter(std::shared_ptr<MemoryLedger> ledger, at::Device device)
    : hook_(std::make_shared<Hook>(std::move(ledger), device)),
      installed_(new Installed{{c10::DebugInfoKind::PROFILER_STATE, hook_}}) {}

MemoryMeter::~MemoryMeter() = default;

std::int64_t MemoryMeter::live() const { return hook_->live(); }
std::int64_t MemoryMeter::peak() const { return hook_->peak(); }
void MemoryMeter::restart_peak() { hook_->restart_peak(); }

void MemoryMeter::give_away(const void* memory) {
  if (Hook* hook = Hook::current()) hook->give_away(memory);
}

std::shared_ptr<void> MemoryMeter::take_over(std::int64_t bytes, at::DeviceType kind) {
  Hook* hook = Hook::current();
  return hook != nullptr && hook->counts(kind) ? hook->take_over(bytes) : nullptr;
}

}  // namespace pipedream::model
