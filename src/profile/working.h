// The most that one pass of a layer allocates at once.
#pragma once

#include "core/units.h"

namespace pipedream::profile {

struct Working {
  Bytes all;
  // What of that is allocated however few samples the pass has; at most as much, 0 where not known.
  Bytes fixed{};
  friend bool operator==(Working, Working) = default;
};

}  // namespace pipedream::profile
