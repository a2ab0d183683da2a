#include "model/keep_memory.h"

#include <cstdlib>
#include <string_view>

#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

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

void keep_heap() {
  if (is_tuned()) return;
  // Threads still have heaps of their own, which go back to the system when they are empty. A
  // single heap for all threads (M_ARENA_MAX) would never go back, but eight workers with small
  // layers would wait for each other at its lock.
  mallopt(M_MMAP_MAX, 0);         // large allocations come from heaps too
  mallopt(M_TRIM_THRESHOLD, -1);  // heaps do not shrink
}

}  // namespace

void keep_memory(char** arguments) {
  if (kUsesMimalloc)
    keep_mimalloc(arguments);
  else
    keep_heap();
}

}  // namespace pipedream::model
