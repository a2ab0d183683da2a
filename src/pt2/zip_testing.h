// Makes zip files for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <zlib.h>

namespace pipedream::pt2 {

// A zip file with these entries (name, content), which are stored. With `is_long`, offsets and
// sizes are in extra fields of 64 bits, as in files of more than 4 GiB.
inline std::string make_zip(const std::vector<std::pair<std::string, std::string>>& entries,
                            bool is_long = false) {
  std::string file;
  std::string list;
  const auto put = [](std::string& into, std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i)
      into += i < 8 ? static_cast<char>(number >> (8 * i) & 0xff) : '\0';
  };
  for (const auto& [name, content] : entries) {
    const std::size_t head = file.size();
    const auto checksum = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const unsigned char*>(content.data()), content.size()));
    put(file, 0x04034b50, 4);
    put(file, 0, 22);  // version, flags, method, time, checksum and sizes: not read here
    put(file, name.size(), 2);
    put(file, 3, 2);
    file += name + "pad" + content;
    put(list, 0x02014b50, 4);
    put(list, 0, 12);
    put(list, checksum, 4);
    put(list, is_long ? 0xffffffff : content.size(), 4);
    put(list, is_long ? 0xffffffff : content.size(), 4);
    put(list, name.size(), 2);
    put(list, is_long ? 28 : 0, 2);
    put(list, 0, 10);
    put(list, is_long ? 0xffffffff : head, 4);
    list += name;
    if (!is_long) continue;
    put(list, 1, 2);
    put(list, 24, 2);
    put(list, content.size(), 8);
    put(list, content.size(), 8);
    put(list, head, 8);
  }
  const std::size_t begin = file.size();
  file += list;
  const std::size_t end = file.size();
  if (is_long) {
    put(file, 0x06064b50, 4);
    put(file, 0, 28);
    put(file, entries.size(), 8);
    put(file, list.size(), 8);
    put(file, begin, 8);
    put(file, 0x07064b50, 4);
    put(file, 0, 4);
    put(file, end, 8);
    put(file, 1, 4);
  }
  put(file, 0x06054b50, 4);
  put(file, 0, 6);
  put(file, is_long ? 0xffff : entries.size(), 2);
  put(file, is_long ? 0xffffffff : list.size(), 4);
  put(file, is_long ? 0xffffffff : begin, 4);
  put(file, 0, 2);
  return file;
}

}  // namespace pipedream::pt2
