// Fuzzes the parser of profile files (JSON). A profile that is read must survive being written and
// read.
#include "profile/profile_file.h"
#include "profile/profile_testing.h"
#include "property.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::reads_or_refuses<BadFile>("file.json", [&] {
    const auto profile = profile::parse_profile_json(fuzz::text_of(data, size), "file.json");
    const auto again = profile::parse_profile_json(profile::to_json(profile), "again");
    PD_CHECK(profile::difference(again, profile).empty());
  });
  return 0;
}
