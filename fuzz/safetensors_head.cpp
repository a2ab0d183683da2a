// Fuzzes the parser of the heads of safetensors files. Entries must lie within the file, and a head
// that is read must survive being written and read.
#include "core/safetensors.h"
#include "property.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::reads_or_refuses<BadFile>("file.safetensors", [&] {
    const std::string_view content = fuzz::text_of(data, size);
    const auto head = parse_safetensors_head(content, content.size(), "file.safetensors");
    const std::uint64_t data_size = content.size() - head.size;
    for (const auto& entry : head.entries) PD_CHECK(entry.end <= data_size);
    const std::string again = make_safetensors_head(head.entries, head.metadata);
    const auto read = parse_safetensors_head(again, again.size() + data_size, "again");
    PD_CHECK(read.entries == head.entries && read.metadata == head.metadata);
  });
  return 0;
}
