#include "model/threads.h"

#include <dlfcn.h>

#include <ATen/Parallel.h>

namespace pipedream::model {

void use_threads(int count) {
  at::set_num_threads(count);
  // The function belongs to the OpenMP runtime that libtorch brings along. We link with none, so it
  // is looked up by name. With 0 active levels every parallel region runs on one thread.
  using SetLevels = void (*)(int);
  const auto set_levels =
      reinterpret_cast<SetLevels>(::dlsym(RTLD_DEFAULT, "omp_set_max_active_levels"));
  if (set_levels != nullptr) set_levels(count == 1 ? 0 : 1);
}

}  // namespace pipedream::model
