#include "transport/process_memory.h"

#include <array>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pipedream::transport {
namespace {

std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

TEST(ProcessMemory, OfAnotherProcessIsCopied) {
  std::array<int, 4> values{1, 2, 3, 4};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    values = {};  // the child's own copy
    std::array<int, 2> into{};
    const bool read = read_process(parent, address_of(values.data()) + sizeof(int),
                                   std::as_writable_bytes(std::span(into)));
    ::_exit(read && into == std::array{2, 3} ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (!read_process(parent, address_of(values.data()), {}))
    GTEST_FAIL() << "nothing is always read";
  EXPECT_EQ(status, 0) << "or this system does not allow it at all";
}

TEST(ProcessMemory, ThatIsNotThereCannotBeRead) {
  std::array<std::byte, 8> into{};
  EXPECT_FALSE(read_process(::getpid(), 8, into));
  EXPECT_FALSE(read_process(-1, address_of(into.data()), into)) << "no such process";
}

}  // namespace
}  // namespace pipedream::transport
