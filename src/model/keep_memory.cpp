#include "model/keep_memory.h"

#include <cstdlib>
#include <string_view>

#include <malloc.h>
#include <unistd.h>

#include "core/machine.h"

namespace pipedream::model {
namespace {

constexpr bool kUsesMimalloc = kIsArm64;

void keep_mimalloc(char** arguments) {
  constexpr const char* kSetting = "MIMALLOC_PURGE_DELAY";
  if (std::getenv(kSetting) != nullptr) return;
  if (setenv(kSetting, "-1", /*overwrite=*/0) == 0) execv("/proc/self/exe", arguments);
  // Where that does not work, all is only slower.
}

// Whoever starts the program has settings of his own.
bool is_tuned() {
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  return tunables != nullptr &&
         std::string_view(tunables).find("glibc.malloc") != std::string_view::npos;
}

void keep_heap() {
  if (is_tuned()) return;
  // Threads still have heaps of their own, which go when they are empty: with a single one for all
  // (M_ARENA_MAX) nothing would, but eight workers with small layers wait for each other then.
  mallopt(M_MMAP_MAX, 0);         // large pieces come from heaps too,
  mallopt(M_TRIM_THRESHOLD, -1);  // which do not shrink
}

}  // namespace

void keep_memory(char** arguments) {
  if (kUsesMimalloc)
    keep_mimalloc(arguments);
  else
    keep_heap();
}

}  // namespace pipedream::model
