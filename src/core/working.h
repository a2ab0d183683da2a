// The most that one pass of a layer allocates at once.
#pragma once

#include "core/units.h"

namespace pipedream {

struct Working {
  Bytes all;
  Bytes fixed{};  // of that, what a pass allocates however few samples it has
  friend bool operator==(Working, Working) = default;
};

}  // namespace pipedream
