// The peak memory of one pass (forward or backward) of a layer (docs/formats.md#profile:
// working_bytes).
#pragma once

#include "core/units.h"

namespace pipedream::profile {

struct Working {
  Bytes all;  // for a whole minibatch
  // The part of `all` that does not depend on the number of samples. At most `all`; 0 if not known.
  Bytes fixed{};
  friend bool operator==(Working, Working) = default;
};

}  // namespace pipedream::profile
