// What lies behind core/document.h: the tree that its two parsers fill. Only they include this.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "core/document.h"

namespace pipedream {

inline constexpr int kDeepestNesting = 64;

// `text`, cut and cleaned so that a message stays on one line and printable whatever a file holds.
[[nodiscard]] std::string printable(std::string_view text, std::size_t longest = 60);

struct Node::Tree {
  std::string file;
  nlohmann::json root;
  std::map<std::string, unsigned> lines;  // path → line, where the parser tells lines
};

}  // namespace pipedream
