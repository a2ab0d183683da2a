// The number of threads that libtorch computes one operation with (intra-op threads).
#pragma once

namespace pipedream::model {

// Sets the number of threads for what the calling thread computes from now on. at::set_num_threads
// alone is not enough: on 64-bit Arm, convolutions and large matrix products go to a library that
// decided to use all cores when it was loaded. If `count` is 1, that library uses one thread too;
// if `count` is larger, it may still use all cores.
void use_threads(int count);

}  // namespace pipedream::model
