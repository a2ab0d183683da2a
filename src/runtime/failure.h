// What happens to exceptions at the edge of a worker.
#pragma once

#include <exception>
#include <string>

namespace pipedream::runtime {

// What is told of a thing that was thrown and has no message.
inline constexpr const char* kNoException = "something was thrown that is no std::exception";

// Called in a catch block: throws the same kind of failure again, with `where` before its message.
// Aborted passes as it is: it tells of another worker's failure.
[[noreturn]] void rethrow_at(const std::string& where);

// A failure as text that can travel to another process, and back.
[[nodiscard]] std::string to_reason(const std::exception_ptr& failure);
// A text that did not come from to_reason(), a transport's own, is WorkerLost.
[[noreturn]] void throw_reason(const std::string& reason);
// Whether that failure is a lost worker.
[[nodiscard]] bool reason_is_lost(const std::string& reason);

}  // namespace pipedream::runtime
