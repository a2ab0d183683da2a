// Fuzzes the parser of IDX files, plain and compressed by gzip. An array that is read must survive
// being written and read.
#include "data/idx_format.h"
#include "data/idx_testing.h"
#include "property.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::reads_or_refuses<BadFile>("file.idx", [&] {
    const auto array = data::parse_idx(fuzz::text_of(data, size), "file.idx");
    PD_CHECK(data::parse_idx(data::idx_file(array), "again") == array);
  });
  return 0;
}
