#include "model/keep_memory.h"

#include <cstdlib>

#include <unistd.h>

#include "core/machine.h"

namespace pipedream::model {
namespace {

constexpr bool kHandsMemoryBack = kIsArm64;

constexpr const char* kSetting = "MIMALLOC_PURGE_DELAY";

}  // namespace

void keep_memory(char** arguments) {
  if (!kHandsMemoryBack || std::getenv(kSetting) != nullptr) return;
  if (setenv(kSetting, "-1", /*overwrite=*/0) == 0) execv("/proc/self/exe", arguments);
  // Where that does not work, all is only slower.
}

}  // namespace pipedream::model
