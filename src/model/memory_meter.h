// Counts the bytes of one kind of device that libtorch allocates and frees on the calling thread.
#pragma once

#include <cstdint>
#include <memory>

#include <c10/core/Device.h>

namespace pipedream::model {

// Who allocated what, for meters of several threads that hand memory to each other: what one
// allocates and another frees is taken off the first one's count, unless it was given away. Safe
// from any thread.
class MemoryLedger;
[[nodiscard]] std::shared_ptr<MemoryLedger> make_memory_ledger();

// Counts from construction to destruction, on the thread that constructed it and, while autograd
// works for that thread, on autograd's. Bytes freed that were allocated before count as negative,
// or, with a ledger, not.
class MemoryMeter {
 public:
  explicit MemoryMeter(std::shared_ptr<MemoryLedger> ledger = nullptr,
                       at::Device device = at::kCPU);
  ~MemoryMeter();
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;

  [[nodiscard]] std::int64_t live() const;
  [[nodiscard]] std::int64_t peak() const;
  // From here on, peak() says what was most since.
  void restart_peak();

  // For the calling thread's meter, if it has one. Memory that was allocated under it counts no
  // longer, though it lives on: somebody else has it now. Needs a ledger, else nothing changes.
  static void give_away(const void* memory);
  // Memory of that kind of device that somebody else allocated counts here too, until the result is
  // destroyed.
  [[nodiscard]] static std::shared_ptr<void> take_over(std::int64_t bytes,
                                                       at::DeviceType kind = at::kCPU);

 private:
  class Hook;
  struct Installed;
  std::shared_ptr<Hook> hook_;
  std::unique_ptr<Installed> installed_;
};

}  // namespace pipedream::model
