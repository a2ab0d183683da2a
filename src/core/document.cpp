#include "core/document.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/document_tree.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"

namespace pipedream {
namespace {

// Appends the path from `here` to `wanted`, such as "level[1].bandwidth". Returns false, with
// `path` unchanged, if `wanted` is not below `here`.
bool append_path(const nlohmann::json& here, const nlohmann::json* wanted, std::string& path) {
  if (&here == wanted) return true;
  const std::size_t before = path.size();
  const auto leads_there = [&](const nlohmann::json& child, const std::string& step) {
    path += step;
    if (append_path(child, wanted, path)) return true;
    path.resize(before);
    return false;
  };
  if (here.is_array())
    for (std::size_t i = 0; i < here.size(); ++i)
      if (leads_there(here[i], "[" + std::to_string(i) + "]")) return true;
  if (here.is_object())
    for (const auto& [key, child] : here.items())
      if (leads_there(child, before == 0 ? key : "." + key)) return true;
  return false;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }

}  // namespace

std::string Node::shown() const {
  if (value_->is_object()) return "an object";
  if (value_->is_array()) return "a list";
  // nlohmann writes nan and inf, which TOML allows, as "null".
  if (value_->is_number_float() && !std::isfinite(value_->get<double>()))
    return fmt::format("{}", value_->get<double>());
  return printable(value_->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

void Node::fail(const std::string& what) const {
  const auto line = tree_->lines.find(value_);
  std::string place = tree_->file;
  if (line != tree_->lines.end()) place += fmt::format(":{}", line->second);
  std::string path;
  append_path(tree_->root, value_, path);
  throw BadFile(place + ": " + (path.empty() ? "" : printable(path) + ": ") + what);
}

void Node::expect_keys(std::initializer_list<std::string_view> known) const {
  if (!value_->is_object()) fail("wanted an object, found " + shown());
  for (const auto& [key, value] : value_->items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    const Node at_key(tree_, &value);
    at_key.fail("unknown key" + suggestion(key, names));
  }
}

std::optional<Node> Node::find(std::string_view key) const {
  if (!value_->is_object()) fail("wanted an object, found " + shown());
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) return std::nullopt;
  return Node(tree_, &*found);
}

Node Node::at(std::string_view key) const {
  auto found = find(key);
  if (!found) fail(fmt::format("the key '{}' is missing", key));
  return *std::move(found);
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  if (!value_->is_object()) fail("wanted an object, found " + shown());
  std::vector<std::pair<std::string, Node>> nodes;
  for (const auto& [key, value] : value_->items()) nodes.emplace_back(key, Node(tree_, &value));
  return nodes;
}

std::vector<Node> Node::elements() const {
  if (!value_->is_array()) fail("wanted a list, found " + shown());
  std::vector<Node> nodes;
  nodes.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) nodes.push_back(Node(tree_, &(*value_)[i]));
  return nodes;
}

std::string Node::any_text() const {
  if (!value_->is_string()) fail("wanted a string, found " + shown());
  return value_->get_ref<const std::string&>();
}

nlohmann::ordered_json any_bytes(const std::string& text) {
  if (is_utf8(text) && std::none_of(text.begin(), text.end(), is_control)) return text;
  return {{"hex", to_hex(text)}};
}

std::string Node::any_bytes() const {
  if (!is_object()) return text();
  expect_keys({"hex"});
  if (auto bytes = from_hex(at("hex").text())) return *bytes;
  at("hex").fail("wanted pairs of hexadecimal digits");
}

std::string Node::scalar_text() const {
  if (value_->is_boolean()) return boolean() ? "true" : "false";
  if (value_->is_number_integer()) return value_->dump();
  if (value_->is_number()) return exact_number(value_->get<double>());
  return text();
}

bool Node::is_object() const { return value_->is_object(); }

bool Node::is_array() const { return value_->is_array(); }

bool Node::is_boolean() const { return value_->is_boolean(); }

std::string Node::text() const {
  const std::string text = any_text();
  if (std::any_of(text.begin(), text.end(), is_control))
    fail("wanted a string without control characters");
  return text;
}

bool Node::is_text() const { return value_->is_string(); }

bool Node::is_null() const { return value_->is_null(); }

bool Node::boolean() const {
  if (!value_->is_boolean()) fail("wanted true or false, found " + shown());
  return value_->get<bool>();
}

std::int64_t Node::integer(std::int64_t least, std::int64_t most) const {
  const bool fits = value_->is_number_unsigned()
                        ? value_->get<std::uint64_t>() <= std::uint64_t{INT64_MAX}
                        : value_->is_number_integer();
  const std::int64_t number = fits ? value_->get<std::int64_t>() : 0;
  if (!fits || number < least || number > most)
    fail(fmt::format("wanted a whole number from {} to {}, found {}", least, most, shown()));
  return number;
}

double Node::number(double least, double most) const {
  const double number = value_->is_number() ? value_->get<double>() : NAN;
  if (!std::isfinite(number) || number < least || number > most)
    fail(fmt::format("wanted a number from {} to {}, found {}", least, most, shown()));
  return number;
}

Nanos Node::seconds() const {
  // 10^6 s are 11 days. A time below 2^50 ns is the same after being written in seconds and read
  // back.
  constexpr double kLongest = 1e6;
  return from_seconds(number(0, kLongest));
}

Bytes Node::byte_count() const {
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;  // 8 PiB, exact in every JSON reader
  return {integer(0, kLargest)};
}

Bytes Node::written_bytes() const {
  try {
    return parse_bytes(text());
  } catch (const BadValue& bad) {
    fail(bad.what());
  }
}

Bandwidth Node::written_bandwidth() const {
  try {
    return parse_bandwidth(text());
  } catch (const BadValue& bad) {
    fail(bad.what());
  }
}

Nanos Node::written_duration() const {
  try {
    return parse_duration(text());
  } catch (const BadValue& bad) {
    fail(bad.what());
  }
}

void Node::expect_format(std::string_view format, std::int64_t version) const {
  const Node named = at("format");
  if (named.text() != format)
    named.fail(
        fmt::format("wanted \"{}\", found {}: is this the right file?", format, named.shown()));
  const Node numbered = at("version");
  if (numbered.integer(0, INT64_MAX) != version)
    numbered.fail(
        fmt::format("this program reads version {}, found {}", version, numbered.shown()));
}

}  // namespace pipedream
