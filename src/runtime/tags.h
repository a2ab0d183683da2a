// What the messages on a worker's control channel are about.
#pragma once

namespace pipedream::runtime {

enum ControlTag : int { kNorms, kResults, kTensors, kLosses, kClock };

}  // namespace pipedream::runtime
