#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "core/document_tree.h"
#include "core/error.h"
#include "core/text.h"

namespace pipedream {
namespace {

// Finds out whether a key or a value is nested deeper than `kDeepestNesting`, by counting dots and
// brackets before toml++ parses the text. toml++ 3.3 limits the nesting of values but not of dotted
// keys, and it frees its tables recursively, so that "a.a.a.…" would overflow the stack. After the
// first syntax error the count may be wrong; toml++ stops at that error.
class NestingScan {
 public:
  explicit NestingScan(std::string_view text) : text_(text) {}

  bool too_deep() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      else if (c == '"' || c == '\'')
        skip_string(c);
      else
        count(c);
      if (deepest_ > kDeepestNesting) return true;
    }
    return false;
  }

 private:
  void count(char c) {
    if (c == '\n' && open_.empty()) {
      if (in_header_) header_ = deepest_;
      depth_ = deepest_ = header_;  // where the next statement begins
      in_header_ = false;
      fresh_line_ = true;
      return;
    }
    if (c == '[' && fresh_line_) {
      in_header_ = true;
      depth_ = deepest_ = 0;
    }
    if (c != ' ' && c != '\t' && c != '\r') fresh_line_ = false;
    if (c == '[' || c == '{') open_.push_back(depth_);
    if (c == '[' || c == '{' || c == '.') deepest_ = std::max(deepest_, ++depth_);
    if (open_.empty()) return;
    if (c == ',') depth_ = open_.back() + 1;
    if (c == ']' || c == '}') {
      depth_ = open_.back();
      open_.pop_back();
    }
  }

  // Moves `at_` from the first to the last character of a string.
  void skip_string(char quote) {
    fresh_line_ = false;
    const std::string end_of_long(3, quote);
    const bool is_long = text_.substr(at_, 3) == end_of_long;
    for (at_ += is_long ? 3 : 1; at_ < text_.size(); ++at_) {
      if (quote == '"' && text_[at_] == '\\') {
        ++at_;
      } else if (!is_long && (text_[at_] == quote || text_[at_] == '\n')) {
        if (text_[at_] == '\n') --at_;
        return;
      } else if (is_long && text_.substr(at_, 3) == end_of_long) {
        at_ += 2;
        // The text may itself end with quotes, as in """a""""".
        while (text_.substr(at_ + 1, 1) == end_of_long.substr(0, 1)) ++at_;
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<int> open_;  // the depth before each open bracket
  int depth_ = 0;
  int deepest_ = 0;  // largest depth in the current statement
  int header_ = 0;   // depth of the [table] that the current statement belongs to
  bool in_header_ = false;
  bool fresh_line_ = true;
};

nlohmann::json copy(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    auto object = nlohmann::json::object();
    for (const auto& [key, value] : *table) object[std::string(key.str())] = copy(value);
    return object;
  }
  if (const auto* list = node.as_array()) {
    auto array = nlohmann::json::array();
    for (const toml::node& element : *list) array.push_back(copy(element));
    return array;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* boolean = node.as_boolean()) return boolean->get();
  return nullptr;  // a date or a time: no format of ours has them, and Node's accessors refuse null
}

// Records the line of each value in `lines`. `json` is the copy of `node`; it must be complete,
// because `lines` points into it.
void note_lines(const toml::node& node, const nlohmann::json& json,
                std::unordered_map<const nlohmann::json*, unsigned>& lines) {
  lines[&json] = node.source().begin.line;
  if (const auto* table = node.as_table())
    for (const auto& [key, value] : *table)
      note_lines(value, json.at(std::string(key.str())), lines);
  if (const auto* list = node.as_array())
    for (std::size_t i = 0; i < list->size(); ++i) note_lines((*list)[i], json.at(i), lines);
}

}  // namespace

Node parse_toml(std::string_view content, const std::string& file) {
  auto tree = std::make_shared<Node::Tree>();
  tree->file = file;
  if (NestingScan(content).too_deep())
    throw BadFile(fmt::format("{}: nested deeper than {} levels", file, kDeepestNesting));
  try {
    const toml::table table = toml::parse(content, file);
    tree->root = copy(table);
    note_lines(table, tree->root, tree->lines);
  } catch (const toml::parse_error& error) {
    throw BadFile(fmt::format("{}:{}: not TOML: {}", file, error.source().begin.line,
                              printable(error.description(), 300)));
  }
  tree->lines.erase(&tree->root);  // the whole document has no line of its own
  const nlohmann::json* root = &tree->root;
  return Node(std::move(tree), root);
}

}  // namespace pipedream
