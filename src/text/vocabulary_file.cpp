#include "text/vocabulary_file.h"

#include <set>

#include "core/document.h"
#include "core/file.h"
#include "core/text.h"

namespace pipedream::text {
namespace {

constexpr const char* kFormat = "pipedream-vocabulary";
constexpr std::int64_t kVersion = 1;

// A token that exists before the merge that makes the token `made`.
Token read_token(const Node& node, std::size_t made) {
  return static_cast<Token>(
      node.integer(std::int64_t{kFirstByte}, static_cast<std::int64_t>(made) - 1));
}

Merge read_merge(const Node& node, std::size_t made) {
  const auto sides = node.elements();
  if (sides.size() != 2)
    node.fail("wanted the numbers of two tokens, found " + std::to_string(sides.size()));
  return {read_token(sides[0], made), read_token(sides[1], made)};
}

}  // namespace

std::string to_json(const Vocabulary& vocabulary) {
  std::string text = "{\n  \"format\": \"" + std::string(kFormat) +
                     "\",\n  \"version\": " + std::to_string(kVersion) + ",\n  \"merges\": [";
  const char* separator = "\n    ";
  for (const auto& [left, right] : vocabulary.merges()) {
    text += separator + ("[" + std::to_string(left)) + ", " + std::to_string(right) + "]";
    separator = ",\n    ";
  }
  return text + (vocabulary.merges().empty() ? "]\n}\n" : "\n  ]\n}\n");
}

Vocabulary parse_vocabulary(std::string_view content, const std::string& file) {
  const Node root = parse_json(content, file);
  root.expect_format(kFormat, kVersion);
  root.expect_keys({"format", "version", "merges"});
  const auto nodes = root.at("merges").elements();
  if (nodes.size() > kMostTokens - kFirstMerge)
    root.at("merges").fail("wanted at most " + std::to_string(kMostTokens - kFirstMerge) +
                           " merges, found " + std::to_string(nodes.size()));
  std::vector<Merge> merges;
  std::set<std::uint64_t> pairs;
  std::vector<std::size_t> lengths(kFirstMerge, 1);  // of the tokens, in bytes
  for (const Node& node : nodes) {
    const Merge merge = read_merge(node, lengths.size());
    if (!pairs.insert(pair_key(merge.left, merge.right)).second)
      node.fail("these two tokens are merged already");
    lengths.push_back(lengths[merge.left] + lengths[merge.right]);
    if (lengths.back() > kLongestToken)
      node.fail("the merge makes a token of " + std::to_string(lengths.back()) +
                " bytes; wanted at most " + std::to_string(kLongestToken));
    merges.push_back(merge);
  }
  return Vocabulary(std::move(merges));
}

Vocabulary read_vocabulary(const std::filesystem::path& path) {
  return parse_vocabulary(read_file(path), path.string());
}

}  // namespace pipedream::text
