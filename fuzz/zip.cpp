// Fuzzes the list of entries of a zip file: the content of every entry must lie in the file.
#include "pt2/zip.h"

#include "property.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::reads_or_refuses<BadFile>("net.pt2", [&] {
    for (const pt2::ZipEntry& entry : pt2::parse_zip(text, "net.pt2")) {
      PD_CHECK(entry.content.data() >= text.data());
      PD_CHECK(entry.content.data() + entry.content.size() <= text.data() + text.size());
      (void)pt2::is_sound(entry);
    }
  });
  return 0;
}
