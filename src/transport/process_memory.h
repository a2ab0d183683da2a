// Reads the memory of another process of this host. Linux only; elsewhere nothing can be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pipedream::transport {

// Allows all processes of the same user to read this process's memory, where the system otherwise
// allows it to parents alone (Yama's ptrace_scope 1).
void let_others_read();

// Copies what process number `process` has at `address` to `into`. Returns false if that is not
// possible: the process is gone, or the system does not allow it.
[[nodiscard]] bool read_process(std::int64_t process, std::uint64_t address,
                                std::span<std::byte> into);

}  // namespace pipedream::transport
