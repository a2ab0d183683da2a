// Fuzzes the parsers of sizes, speeds and times, such as "16GiB". A value that is read must survive
// being written and read.
#include "core/units.h"

#include "property.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::reads_or_refuses<BadValue>("wanted a size", [&] {
    const Bytes bytes = parse_bytes(text);
    PD_CHECK(bytes.count >= 0 && parse_bytes(to_exact_text(bytes)) == bytes);
    PD_CHECK(!to_text(bytes).empty());
  });
  fuzz::reads_or_refuses<BadValue>("wanted a speed", [&] {
    const Bandwidth speed = parse_bandwidth(text);
    PD_CHECK(speed.bytes_per_second > 0 && parse_bandwidth(to_exact_text(speed)) == speed);
    PD_CHECK(!to_text(speed).empty());
  });
  fuzz::reads_or_refuses<BadValue>("wanted a time", [&] {
    const Nanos time = parse_duration(text);
    PD_CHECK(time.count() >= 0 && parse_duration(to_exact_text(time)) == time);
    PD_CHECK(!to_text(time).empty());
  });
  return 0;
}
