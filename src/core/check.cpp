#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace pipedream {

void panic(const char* rule, const char* file, int line) {
  std::fprintf(stderr, "pipedream: bug: '%s' does not hold at %s:%d; please report this\n", rule,
               file, line);
  std::abort();
}

}  // namespace pipedream
