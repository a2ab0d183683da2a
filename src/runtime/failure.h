// How exceptions leave a worker: with the place of the failure in their message, and as text that
// travels to other processes (docs/errors.md).
#pragma once

#include <exception>
#include <string>

namespace pipedream::runtime {

// The message for something thrown that is no std::exception.
inline constexpr const char* kNoException = "something was thrown that is no std::exception";

// Called in a catch block: throws the same kind of failure again, with `where` before its message.
// transport::Aborted passes unchanged, because it reports another worker's failure.
[[noreturn]] void rethrow_at(const std::string& where);

// The kind and message of a failure as text, which can travel to another process. Too little memory
// becomes CannotMeet, and whatever is not of our Error family becomes Error.
[[nodiscard]] std::string to_reason(const std::exception_ptr& failure);
// Throws the failure that `reason` describes. A text that does not come from to_reason() is a
// transport's own, and is thrown as WorkerLost.
[[noreturn]] void throw_reason(const std::string& reason);
// Whether throw_reason() would throw WorkerLost.
[[nodiscard]] bool reason_is_lost(const std::string& reason);

}  // namespace pipedream::runtime
