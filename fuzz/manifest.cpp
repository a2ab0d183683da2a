// Fuzzes the parser of manifests: as the input is, and with the checksum that belongs to it,
// because hardly any input has that by itself. A manifest that is read must survive being written
// and read, and its files must have plain names.
#include "checkpoint/manifest.h"

#include "core/checksum.h"
#include "property.h"

using namespace pipedream;

namespace {

void parse(std::string_view text) {
  fuzz::reads_or_refuses<BadFile>("manifest.json", [&] {
    const auto manifest = checkpoint::parse_manifest(text, "manifest.json");
    PD_CHECK(checkpoint::parse_manifest(checkpoint::to_json(manifest), "again") == manifest);
    for (const checkpoint::FileEntry& file : manifest.files) {
      PD_CHECK(!file.name.empty() && file.name.front() != '.');
      PD_CHECK(file.name.find('/') == std::string::npos);
    }
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  parse(text);
  const std::string body(text.substr(0, text.rfind(",\n  \"checksum\"")));
  parse(body + ",\n  \"checksum\": \"" + checksum_of(body) + "\"\n}\n");
  return 0;
}
