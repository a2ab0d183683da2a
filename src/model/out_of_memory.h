// Telling that memory ran out from libtorch's other failures.
#pragma once

#include <c10/util/Exception.h>

namespace pipedream::model {

// libtorch has one type of exception for all; only the text tells.
[[nodiscard]] bool is_out_of_memory(const c10::Error& error);

// What the user reads then.
inline constexpr const char* kOutOfMemory =
    "there is not enough memory: try a smaller --batch or model";

}  // namespace pipedream::model
