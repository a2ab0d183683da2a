// Fuzzes the parser of PipeDream's graph text. A profile that is read must survive being written as
// a profile file of ours and read again.
#include "profile/graph_text.h"

#include "profile/profile_file.h"
#include "profile/profile_testing.h"
#include "property.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::reads_or_refuses<BadFile>("net.graph.txt", [&] {
    const auto profile = profile::parse_graph_text(fuzz::text_of(data, size), "net.graph.txt");
    const auto again = profile::parse_profile_json(profile::to_json(profile), "again");
    PD_CHECK(profile::difference(again, profile).empty());
  });
  return 0;
}
