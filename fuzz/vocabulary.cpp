// Fuzzes the parser of vocabularies. A vocabulary that is read must survive being written and
// read, and must return any text from its tokens.
#include "property.h"
#include "text/vocabulary_file.h"

using namespace pipedream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view content = fuzz::text_of(data, size);
  fuzz::reads_or_refuses<BadFile>("v.json", [&] {
    const text::Vocabulary vocabulary = text::parse_vocabulary(content, "v.json");
    PD_CHECK(text::parse_vocabulary(text::to_json(vocabulary), "again") == vocabulary);
    PD_CHECK(vocabulary.decode(vocabulary.encode(content)) == content);
  });
  return 0;
}
