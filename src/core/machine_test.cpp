#include "core/machine.h"

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "core/file.h"
#include "core/testing.h"

namespace pipedream {
namespace {

TEST(ProcessorTime, GoesOnWhileTheThreadWorks) {
  const Nanos begin = processor_time();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (processor_time() == begin && std::chrono::steady_clock::now() < deadline) continue;
  EXPECT_GT(processor_time(), begin);
}

TEST(ProcessorTime, StandsStillWhileTheThreadWaits) {
  constexpr std::chrono::milliseconds kSleep(200);
  const Nanos begin = processor_time();
  std::this_thread::sleep_for(kSleep);
  EXPECT_LT(processor_time() - begin, kSleep / 2);
}

// A tree of the files that Linux shows.
class FakeRoot {
 public:
  void write(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    write_file_atomically(folder_.path() / path, content);
  }
  [[nodiscard]] std::int64_t available() const { return available_memory(folder_.path()).count; }

 private:
  test::TemporaryFolder folder_;
};

TEST(AvailableMemory, IsWhatTheMachineHasLeft) {
  const FakeRoot root;
  root.write("proc/meminfo", "MemTotal:  9000 kB\nMemFree:  1 kB\nMemAvailable:   5000 kB\n");
  EXPECT_EQ(root.available(), 5000 * 1024);
}

TEST(AvailableMemory, IsLessInAGroupWithALimit) {
  const FakeRoot root;
  root.write("proc/meminfo", "MemAvailable:   5000 kB\n");
  root.write("proc/self/cgroup", "0::/job/step\n");
  root.write("sys/fs/cgroup/job/step/memory.max", "max\n");
  root.write("sys/fs/cgroup/job/step/memory.current", "100\n");
  EXPECT_EQ(root.available(), 5000 * 1024) << "no limit";
  root.write("sys/fs/cgroup/job/memory.max", "1000000\n");
  root.write("sys/fs/cgroup/job/memory.current", "700000\n");
  root.write("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 50000\n");
  EXPECT_EQ(root.available(), 350'000) << "the limit of the group around it";
  root.write("sys/fs/cgroup/job/step/memory.max", "200\n");
  EXPECT_EQ(root.available(), 100);
  root.write("sys/fs/cgroup/job/step/memory.current", "300\n");
  EXPECT_EQ(root.available(), 0) << "never negative";
}

TEST(AvailableMemory, KnowsTheFirstVersionOfGroups) {
  const FakeRoot root;
  root.write("proc/meminfo", "MemAvailable:   5000 kB\n");
  root.write("proc/self/cgroup", "5:cpu:/\n4:memory:/slurm/job\n");
  root.write("sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "3000\n");
  root.write("sys/fs/cgroup/memory/slurm/job/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(root.available(), 2000);
}

}  // namespace
}  // namespace pipedream
