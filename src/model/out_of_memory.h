// Tells failures of libtorch for lack of memory from its other failures.
#pragma once

#include <c10/util/Exception.h>

namespace pipedream::model {

// Whether libtorch failed because memory ran out. Decided by the error's text: on CPU libtorch
// throws the same type of exception as for other failures.
[[nodiscard]] bool is_out_of_memory(const c10::Error& error);

// What the user reads when memory runs out.
inline constexpr const char* kOutOfMemory =
    "there is not enough memory: try a smaller `batch` or model";

}  // namespace pipedream::model
