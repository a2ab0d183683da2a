// Fuzzes the head of .npy files: the data that it describes are the rest of the file.
#include "core/npy.h"

#include "core/safetensors.h"
#include "property.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::reads_or_refuses<BadFile>("a.npy", [&] {
    const NpyHead head = parse_npy_head(text, "a.npy");
    std::uint64_t bytes = safetensors_element_size(head.type);
    for (const std::int64_t side : head.shape) bytes *= static_cast<std::uint64_t>(side);
    PD_CHECK(head.size + bytes == text.size());
  });
  return 0;
}
