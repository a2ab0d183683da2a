// What lies behind core/document.h: the tree that its two parsers fill. Only they include this.
#pragma once

#include <string>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "core/document.h"

namespace pipedream {

inline constexpr int kDeepestNesting = 64;

struct Node::Tree {
  std::string file;
  nlohmann::json root;
  std::unordered_map<const nlohmann::json*, unsigned> lines;  // where the parser tells lines
};

}  // namespace pipedream
