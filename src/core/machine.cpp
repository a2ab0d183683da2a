#include "core/machine.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include <time.h>
#include <unistd.h>

#include "core/check.h"

namespace pipedream {

Bytes physical_memory() {
  return {static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE)};
}

namespace {

// The first number in a file; nullopt if there is none.
std::optional<std::int64_t> number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

// The number after `name` in a file of lines such as "MemAvailable:  123 kB".
std::optional<std::int64_t> number_after(const std::filesystem::path& path,
                                         const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::int64_t number = 0;
    if (words >> word >> number && word == name) return number;
  }
  return std::nullopt;
}

// Where Linux keeps the control groups of one version, and how their files are called.
struct Hierarchy {
  const char* folder;
  const char* controller;  // as /proc/self/cgroup names it
  const char* limit;
  const char* usage;
  const char* cache;  // in memory.stat: files in the page cache, which can be dropped
};
constexpr Hierarchy kHierarchies[] = {
    {"sys/fs/cgroup", "", "memory.max", "memory.current", "inactive_file"},
    {"sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file"}};

// What a control group leaves; nullopt if it has no limit.
std::optional<std::int64_t> left_by(const std::filesystem::path& group, const Hierarchy& of) {
  const auto limit = number_in(group / of.limit);
  const auto usage = number_in(group / of.usage);
  if (!limit || !usage) return std::nullopt;
  return *limit - *usage + number_after(group / "memory.stat", of.cache).value_or(0);
}

// The path of this process's group in a hierarchy, relative to its folder.
std::string group_path(const std::filesystem::path& root, const std::string& controller) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) == controller)
      return line.substr(std::min(second + 2, line.size()));  // without the leading '/'
  }
  return "";
}

}  // namespace

Bytes available_memory() { return available_memory("/"); }

Bytes available_memory(const std::filesystem::path& root) {
  constexpr std::int64_t kKilo = 1024;
  std::int64_t left = physical_memory().count;
  if (const auto free = number_after(root / "proc/meminfo", "MemAvailable:")) left = *free * kKilo;
  for (const Hierarchy& of : kHierarchies) {
    // A limit of a group holds for all groups in it, so all groups above this one are asked, too.
    std::filesystem::path group = group_path(root, of.controller);
    while (true) {
      if (const auto own = left_by(root / of.folder / group, of)) left = std::min(left, *own);
      if (group.empty()) break;
      group = group.parent_path();
    }
  }
  return Bytes{std::max<std::int64_t>(0, left)};
}

int cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

Nanos processor_time() {
  timespec time{};
  PD_CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

}  // namespace pipedream
