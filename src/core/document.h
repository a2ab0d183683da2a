// Strict reading of JSON and TOML files (docs/formats.md). Both parse into the same tree, and a
// Node is one value of that tree. Every accessor checks the value that it reads: it throws BadFile
// with the file, the place in the file, what was wanted and what was found.
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

// Parse `content` and return its root. `file` is only used in messages. Throw BadFile if `content`
// is not valid, or if it is nested deeper than 64 levels.
[[nodiscard]] Node parse_json(std::string_view content, const std::string& file);
[[nodiscard]] Node parse_toml(std::string_view content, const std::string& file);

// Returns a JSON value for text that may hold any bytes, such as a path. JSON strings hold UTF-8
// only, and Node::text() refuses control characters. Text that is not UTF-8, or has control
// characters, becomes {"hex": "2f74…"}. Node::any_bytes() reads both forms.
[[nodiscard]] nlohmann::ordered_json any_bytes(const std::string& text);

// One value of a document. Cheap to copy; a Node keeps its document alive. Immutable, so any thread
// may use it.
class Node {
 public:
  // Requires an object without keys other than `known`. The message for an unknown key suggests the
  // most similar known key.
  void expect_keys(std::initializer_list<std::string_view> known) const;
  // Returns the member `key` of an object. Throws if there is none.
  [[nodiscard]] Node at(std::string_view key) const;
  // Returns the member `key` of an object, or nullopt if there is none.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const;
  // Returns the members of an object as (key, value) pairs.
  [[nodiscard]] std::vector<std::pair<std::string, Node>> members() const;
  // Returns the elements of an array.
  [[nodiscard]] std::vector<Node> elements() const;

  [[nodiscard]] std::string text() const;       // a string without control characters
  [[nodiscard]] std::string any_text() const;   // a string of any characters
  [[nodiscard]] std::string any_bytes() const;  // what any_bytes() below made a value of
  // A string, a number or a truth value as text: 3, 0.5, true.
  [[nodiscard]] std::string scalar_text() const;
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] bool is_null() const;
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] double number(double least, double most) const;  // a finite number
  [[nodiscard]] Nanos seconds() const;                           // a number of seconds, 0 to 10^6
  [[nodiscard]] Bytes byte_count() const;             // a whole number of bytes, 0 to 2^53
  [[nodiscard]] Bytes written_bytes() const;          // a string such as "16GiB"
  [[nodiscard]] Bandwidth written_bandwidth() const;  // a string such as "10Gbit/s"
  [[nodiscard]] Nanos written_duration() const;       // a string such as "20us"

  // Throws BadFile with the message "FILE:LINE: PLACE: what". JSON documents have no line.
  [[noreturn]] void fail(const std::string& what) const;

  // Requires that the document's keys "format" and "version" have these values. Files of this
  // project name their format in these keys.
  void expect_format(std::string_view format, std::int64_t version) const;

 private:
  friend Node parse_json(std::string_view, const std::string&);
  friend Node parse_toml(std::string_view, const std::string&);
  struct Tree;

  Node(std::shared_ptr<const Tree> tree, const nlohmann::json* value)
      : tree_(std::move(tree)), value_(value) {}
  [[nodiscard]] std::string shown() const;  // the value as text, short enough for a message

  std::shared_ptr<const Tree> tree_;
  const nlohmann::json* value_;  // points into `tree_`
};

}  // namespace pipedream
