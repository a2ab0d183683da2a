// Stands in for nccl.cpp in a build without NCCL.
#include "core/error.h"
#include "transport/nccl.h"

namespace pipedream::transport {

bool has_nccl() { return false; }

std::unique_ptr<Lanes> make_nccl_lanes(const NcclOptions&) {
  throw CannotMeet(
      "this build has no NCCL: build with a torch package for CUDA and the NCCL package beside it, "
      "or name a folder with include/ and lib/ of NCCL and CUDA's runtime in PD_NCCL");
}

}  // namespace pipedream::transport
