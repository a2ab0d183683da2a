#include "model/threads.h"

#include <dlfcn.h>

#include <ATen/Parallel.h>

namespace pipedream::model {

namespace {

// Calls a function of the OpenMP runtime that libtorch brings along. We link with none, so it is
// looked up by name.
void tell_openmp(const char* function, int number) {
  const auto found = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, function));
  if (found != nullptr) found(number);
}

}  // namespace

void use_threads(int count) {
  at::set_num_threads(count);
  // With 0 active levels every parallel region runs on one thread.
  tell_openmp("omp_set_max_active_levels", count == 1 ? 0 : 1);
}

void use_no_other_thread() {
  // The first call on a thread gives it the process's number of threads.
  (void)at::get_num_threads();
  tell_openmp("omp_set_num_threads", 1);
}

}  // namespace pipedream::model
