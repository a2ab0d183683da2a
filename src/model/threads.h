// The number of threads that libtorch computes one operation with (intra-op threads).
#pragma once

namespace pipedream::model {

// Sets the number of threads for what the calling thread computes from now on. at::set_num_threads
// alone is not enough: on 64-bit Arm, convolutions and large matrix products go to a library that
// decided to use all cores when it was loaded. If `count` is 1, that library uses one thread too;
// if `count` is larger, it may still use all cores. Some OpenMP runtimes have this setting once for
// the whole process, so all threads that compute a model must ask for the same count.
void use_threads(int count);

// Lets the calling thread compute alone from now on, for threads that read data beside those that
// compute. Changes nothing for other threads.
void use_no_other_thread();

}  // namespace pipedream::model
