#include "model/keep_memory.h"

#include <cstdlib>
#include <new>
#include <string_view>

#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <c10/core/CPUAllocator.h>

#include "core/kept_blocks.h"
#include "core/machine.h"

namespace pipedream::model {
namespace {

constexpr bool kUsesMimalloc = kIsArm64;

// A program that was started as /proc/self/exe is called "exe" by ps and top.
void take_own_name(const char* path) {
  const std::string_view whole(path);
  prctl(PR_SET_NAME, path + (whole.find_last_of('/') + 1));  // npos + 1 is 0
}

void keep_mimalloc(char** arguments) {
  constexpr const char* kSetting = "MIMALLOC_PURGE_DELAY";
  constexpr const char* kStartedAgain = "PD_STARTED_AGAIN";
  if (std::getenv(kStartedAgain) != nullptr) {
    unsetenv(kStartedAgain);  // not for programs that this one starts
    take_own_name(arguments[0]);
  }
  if (std::getenv(kSetting) != nullptr) return;
  if (setenv(kSetting, "-1", /*overwrite=*/0) == 0 &&
      setenv(kStartedAgain, "1", /*overwrite=*/1) == 0)
    execv("/proc/self/exe", arguments);
  // If execv fails, the program goes on as it is, only slower.
  unsetenv(kStartedAgain);
}

// Whether the user has set options of malloc, which then hold.
bool is_tuned() {
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  return tunables != nullptr &&
         std::string_view(tunables).find("glibc.malloc") != std::string_view::npos;
}

// Never destroyed: tensors may outlive all else.
KeptBlocks& blocks() {
  static KeptBlocks* const all = new KeptBlocks;
  return *all;
}

// Allocates tensors from KeptBlocks, and reports them as libtorch's own allocator does.
class KeepingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    void* memory = nullptr;
    if (size > 0) {
      memory = blocks().take(size);
      if (memory == nullptr) fail(size);
      c10::profiledCPUMemoryReporter().New(memory, size);
    }
    return {memory, memory, &give, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give; }
  void copy_data(void* to, const void* from, std::size_t size) const override {
    default_copy_data(to, from, size);
  }

 private:
  static void give(void* memory) {
    if (memory == nullptr) return;
    c10::profiledCPUMemoryReporter().Delete(memory);
    blocks().give(memory);
  }
  // libtorch's own allocator fails too, and with a message that says how much was wanted.
  [[noreturn]] static void fail(std::size_t size) {
    (void)c10::GetDefaultCPUAllocator()->allocate(size);
    throw std::bad_alloc();
  }
};

void keep_blocks() {
  if (is_tuned()) return;
  // What libraries allocate without libtorch comes from heaps too. Each thread has a heap of its
  // own, which goes back to the system when it is empty.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);  // heaps do not shrink
  static KeepingAllocator allocator;
  c10::SetCPUAllocator(&allocator, /*priority=*/1);  // above that of libtorch's own
}

}  // namespace

void keep_memory(char** arguments) {
  if (kUsesMimalloc)
    keep_mimalloc(arguments);
  else
    keep_blocks();
}

}  // namespace pipedream::model
