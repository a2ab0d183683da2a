// The tree behind core/document.h. Only the files that implement core/document.h include this.
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
  std::unordered_map<const nlohmann::json*, unsigned> lines;  // line of each value; empty for JSON
};

}  // namespace pipedream
