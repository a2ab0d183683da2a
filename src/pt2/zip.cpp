#include "pt2/zip.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include <zlib.h>

#include "core/error.h"
#include "core/text.h"

namespace pipedream::pt2 {
namespace {

constexpr std::uint32_t kEndOfDirectory = 0x06054b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::uint32_t kEndOfDirectory64 = 0x06064b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kLocalHead = 0x04034b50;

// Reads numbers at places of a file. Throws BadFile for places outside of it.
class FileBytes {
 public:
  FileBytes(std::string_view content, const std::string& file) : content_(content), file_(file) {}

  [[nodiscard]] std::uint64_t size() const { return content_.size(); }
  [[nodiscard]] std::string_view part(std::uint64_t begin, std::uint64_t length) const {
    if (begin > content_.size() || length > content_.size() - begin)
      fail(begin, "the file ends before " + std::to_string(length) + " bytes that it should have");
    return content_.substr(begin, length);
  }
  [[nodiscard]] std::uint64_t number(std::uint64_t place, std::uint64_t bytes) const {
    const std::string_view digits = part(place, bytes);
    std::uint64_t number = 0;
    for (std::size_t i = digits.size(); i-- > 0;)
      number = number << 8 | static_cast<unsigned char>(digits[i]);
    return number;
  }
  void want(std::uint64_t place, std::uint32_t signature, const char* what) const {
    if (number(place, 4) != signature) fail(place, std::string("wanted ") + what);
  }
  [[noreturn]] void fail(std::uint64_t place, const std::string& what) const {
    throw BadFile(file_ + ": byte " + std::to_string(place) + ": " + what +
                  "; this is no whole zip file, as torch.export.save writes it");
  }

 private:
  std::string_view content_;
  const std::string& file_;
};

struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t entries = 0;
};

// The record at the end of the file may be followed by a comment of up to 64 KiB.
std::uint64_t find_end(const FileBytes& file) {
  constexpr std::uint64_t kLength = 22;
  constexpr std::uint64_t kLongestComment = 0xffff;
  if (file.size() < kLength) file.fail(0, "the file is too short");
  const std::uint64_t last = file.size() - kLength;
  for (std::uint64_t back = 0; back <= std::min(last, kLongestComment); ++back)
    if (file.number(last - back, 4) == kEndOfDirectory && file.number(last - back + 20, 2) == back)
      return last - back;
  file.fail(last, "wanted the end of the list of entries");
}

Directory checked(const FileBytes& file, std::uint64_t place, const Directory& found) {
  if (found.begin > found.end || found.end > place)
    file.fail(place, "the list of entries is not before its end");
  return found;
}

// Large files have a second record with longer numbers, which the locator before the end names.
Directory find_directory(const FileBytes& file) {
  constexpr std::uint64_t kLocatorLength = 20;
  const std::uint64_t end = find_end(file);
  const auto begin_and = [](std::uint64_t begin, std::uint64_t size, std::uint64_t entries) {
    const bool fits = size <= std::numeric_limits<std::uint64_t>::max() - begin;
    return Directory{begin, fits ? begin + size : 0, entries};
  };
  if (end < kLocatorLength || file.number(end - kLocatorLength, 4) != kLocator64)
    return checked(
        file, end,
        begin_and(file.number(end + 16, 4), file.number(end + 12, 4), file.number(end + 10, 2)));
  const std::uint64_t end64 = file.number(end - kLocatorLength + 8, 8);
  file.want(end64, kEndOfDirectory64, "the end of the long list of entries");
  return checked(file, end64,
                 begin_and(file.number(end64 + 48, 8), file.number(end64 + 40, 8),
                           file.number(end64 + 32, 8)));
}

// Where an entry's bytes are. In large files these numbers are in an extra field (ZIP64), in the
// order of the members below.
struct Place {
  std::uint64_t size = 0;
  std::uint64_t stored = 0;  // bytes in the file; equal to `size` if the entry is not compressed
  std::uint64_t head = 0;
};

void read_long_numbers(const FileBytes& file, std::uint64_t place, std::uint64_t length,
                       Place& into) {
  constexpr std::uint32_t kInExtra = 0xffffffff;
  constexpr std::uint64_t kLongNumbers = 1;
  const std::uint64_t end = place + length;
  while (place + 4 <= end) {
    const std::uint64_t kind = file.number(place, 2);
    const std::uint64_t field_end = place + 4 + file.number(place + 2, 2);
    place += 4;
    if (field_end > end) file.fail(place, "a field is longer than the entry");
    if (kind == kLongNumbers)
      for (std::uint64_t* const number : {&into.size, &into.stored, &into.head})
        if (*number == kInExtra) {
          if (place + 8 > field_end) file.fail(place, "a long number is missing");
          *number = file.number(place, 8);
          place += 8;
        }
    place = field_end;
  }
}

void want_plain(const FileBytes& file, std::uint64_t place, const Place& found) {
  constexpr std::uint64_t kEncrypted = 1;
  if ((file.number(place + 8, 2) & kEncrypted) != 0) file.fail(place, "an entry is encrypted");
  if (file.number(place + 10, 2) != 0 || found.size != found.stored)
    file.fail(place, "an entry is compressed, and wanted are entries that are only stored");
}

// Reads the entry of the list at `place`, and moves `place` to the next one.
ZipEntry read_entry(const FileBytes& file, const Directory& directory, std::uint64_t& place) {
  file.want(place, kDirectoryEntry, "an entry of the list");
  Place found{.size = file.number(place + 24, 4),
              .stored = file.number(place + 20, 4),
              .head = file.number(place + 42, 4)};
  const std::uint64_t name = file.number(place + 28, 2);
  const std::uint64_t extra = file.number(place + 30, 2);
  const std::uint64_t comment = file.number(place + 32, 2);
  ZipEntry entry{.name = std::string(file.part(place + 46, name)),
                 .content = {},
                 .checksum = static_cast<std::uint32_t>(file.number(place + 16, 4))};
  read_long_numbers(file, place + 46 + name, extra, found);
  want_plain(file, place, found);
  file.want(found.head, kLocalHead, "the head of an entry");
  const std::uint64_t begin =
      found.head + 30 + file.number(found.head + 26, 2) + file.number(found.head + 28, 2);
  entry.content = file.part(begin, found.size);
  if (begin + found.size > directory.begin)
    file.fail(place, "the content of an entry reaches into the list of entries");
  place += 46 + name + extra + comment;
  return entry;
}

}  // namespace

std::vector<ZipEntry> parse_zip(std::string_view content, const std::string& file) {
  const FileBytes bytes(content, file);
  const Directory directory = find_directory(bytes);
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  std::uint64_t place = directory.begin;
  while (place < directory.end) {
    const std::uint64_t at = place;
    entries.push_back(read_entry(bytes, directory, place));
    if (!names.insert(entries.back().name).second)
      bytes.fail(at, "there are two entries '" + printable(entries.back().name, 100) + "'");
  }
  if (place != directory.end || entries.size() != directory.entries)
    bytes.fail(directory.begin, "the list should have " + std::to_string(directory.entries) +
                                    " entries, and has " + std::to_string(entries.size()));
  return entries;
}

bool is_sound(const ZipEntry& entry) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(entry.content.data());
  return crc32_z(0, bytes, entry.content.size()) == entry.checksum;
}

}  // namespace pipedream::pt2
