// Strict reading of JSON and TOML files. Both become one tree; a Node is a value in it together
// with its file and place, and every accessor throws BadFile with file, place, what was wanted and
// what was found. Each accessor is a check: there is no way to read a value and skip its check.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/units.h"

namespace pipedream {

class Node;

// Parse `content`; `file` is only named in messages. Nesting deeper than 64 is refused.
[[nodiscard]] Node parse_json(std::string_view content, const std::string& file);
[[nodiscard]] Node parse_toml(std::string_view content, const std::string& file);

// A value of a document. Cheap to copy; keeps the document alive. Immutable, so thread-safe.
class Node {
 public:
  // An object with exactly these keys allowed; an unknown key is refused with the nearest known
  // one.
  void expect_keys(std::initializer_list<std::string_view> known) const;
  // The member `key`, which must exist.
  [[nodiscard]] Node at(std::string_view key) const;
  // The member `key`, or nullopt.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const;
  // The members of an object, by name.
  [[nodiscard]] std::vector<std::pair<std::string, Node>> members() const;
  // The elements of an array.
  [[nodiscard]] std::vector<Node> elements() const;

  [[nodiscard]] std::string text() const;  // a string without control characters
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] bool is_null() const;
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] double number(double least, double most) const;  // finite
  [[nodiscard]] Nanos seconds() const;                // a number of seconds, 0 up to 10^6
  [[nodiscard]] Bytes byte_count() const;             // a whole number of bytes
  [[nodiscard]] Bytes written_bytes() const;          // "16GiB"
  [[nodiscard]] Bandwidth written_bandwidth() const;  // "10Gbit/s"
  [[nodiscard]] Nanos written_duration() const;       // "20us"

  // Throws BadFile: "FILE:LINE: PLACE: what".
  [[noreturn]] void fail(const std::string& what) const;

  // The document's "format" and "version" must be these (DESIGN: every file names its format).
  void expect_format(std::string_view format, std::int64_t version) const;

 private:
  friend Node parse_json(std::string_view, const std::string&);
  friend Node parse_toml(std::string_view, const std::string&);
  struct Tree;

  Node(std::shared_ptr<const Tree> tree, const nlohmann::json* value)
      : tree_(std::move(tree)), value_(value) {}
  [[nodiscard]] std::string shown() const;  // the value, short enough for a message

  std::shared_ptr<const Tree> tree_;
  const nlohmann::json* value_;  // its place is looked for only when a message needs it
};

}  // namespace pipedream
