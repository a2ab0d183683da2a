// Fuzzes the parser of IDX files, plain and compressed by gzip. An array that is read must survive
// being written and read.
#include "property.h"
#include "train/idx_format.h"
#include "train/idx_testing.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::reads_or_refuses<BadFile>("file.idx", [&] {
    const auto array = train::parse_idx(fuzz::text_of(data, size), "file.idx");
    PD_CHECK(train::parse_idx(train::idx_file(array), "again") == array);
  });
  return 0;
}
