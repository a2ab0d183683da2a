// The entries of a zip file. torch.export.save writes such files, with entries that are stored and
// not compressed, so that their bytes can be used where they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pipedream::pt2 {

struct ZipEntry {
  std::string name;
  std::string_view content;  // a part of the file
  std::uint32_t checksum = 0;
  friend bool operator==(const ZipEntry&, const ZipEntry&) = default;
};

// Lists the entries of a zip file. `content` is the whole file and must outlive the entries. `file`
// is only used in messages. Throws BadFile, with the file and the place, if it is no zip file, if
// an entry is compressed or encrypted, if two entries have the same name, or if a length or an
// offset leads out of the file. Checksums are not compared: is_sound() does that.
[[nodiscard]] std::vector<ZipEntry> parse_zip(std::string_view content, const std::string& file);

// Whether the entry's content has its checksum (CRC-32).
[[nodiscard]] bool is_sound(const ZipEntry& entry);

}  // namespace pipedream::pt2
