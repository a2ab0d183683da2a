// How many threads of its own libtorch computes with.
#pragma once

namespace pipedream::model {

// For what the calling thread computes from now on, as at::set_num_threads promises. That alone is
// not enough: on 64-bit Arm convolutions and large matrix products go to a library that decided
// when it was loaded, and takes all cores. With one thread it is kept from that, too; with more it
// may still take all.
void use_threads(int count);

}  // namespace pipedream::model
