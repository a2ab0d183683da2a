// What the messages on a worker's control and news channels are about.
#pragma once

namespace pipedream::runtime {

enum ControlTag : int { kNorms, kResults, kTensors, kLosses, kClock, kPace };

}  // namespace pipedream::runtime
