// A worker that is slower, or faster, than its device is known to be.
#pragma once

#include "core/ids.h"

namespace pipedream {

struct Straggler {
  WorkerId worker;
  double speed = 1;  // factor on the speed of its device
};

}  // namespace pipedream
