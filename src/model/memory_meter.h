// Counts the bytes that libtorch allocates and frees on the calling thread, on one kind of device.
#pragma once

#include <cstdint>
#include <memory>

#include <c10/core/Device.h>

namespace pipedream::model {

// Remembers which meter counts which memory, for several threads that hand memory to each other.
// Memory that one thread allocates and another frees is subtracted from the allocating thread's
// count, unless it was given away before. Safe to use from any thread.
class MemoryLedger;
[[nodiscard]] std::shared_ptr<MemoryLedger> make_memory_ledger();

// Counts from its construction to its destruction, on the thread that constructed it and on threads
// of autograd while they work for that thread. Without a ledger, freeing memory that was allocated
// before the meter existed makes the count smaller, down to negative numbers. With a ledger, such a
// free changes no count.
class MemoryMeter {
 public:
  explicit MemoryMeter(std::shared_ptr<MemoryLedger> ledger = nullptr,
                       at::Device device = at::kCPU);
  ~MemoryMeter();
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;

  [[nodiscard]] std::int64_t live() const;  // bytes allocated and not freed
  [[nodiscard]] std::int64_t peak() const;  // the largest live() since restart_peak()
  // Lets peak() begin anew with the bytes that are live now.
  void restart_peak();

  // Subtracts `memory`, which is still allocated, from the count of the meter that counts it: from
  // now on somebody else owns it. Does nothing unless the calling thread has a meter with a ledger.
  static void give_away(const void* memory);
  // Adds `bytes` that somebody else allocated to the count of the calling thread's meter until the
  // result is destroyed. Returns null and counts nothing unless the thread has a meter for `kind`.
  [[nodiscard]] static std::shared_ptr<void> take_over(std::int64_t bytes,
                                                       at::DeviceType kind = at::kCPU);

 private:
  class Hook;
  struct Installed;
  std::shared_ptr<Hook> hook_;
  std::unique_ptr<Installed> installed_;
};

}  // namespace pipedream::model
