#include <fmt/format.h>

#include "core/document_tree.h"
#include "core/error.h"
#include "core/text.h"

namespace pipedream {
namespace {

// Builds the tree from the parser's events. Refuses two things that nlohmann's own reader accepts:
// deep nesting (the tree is destroyed recursively, which could overflow the stack) and a key that
// is given twice (the second value would silently win).
class StrictBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  StrictBuilder(nlohmann::json& root, std::string file) : root_(root), file_(std::move(file)) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON text has no binary values
  bool start_object(std::size_t) override { return open(nlohmann::json::object()); }
  bool start_array(std::size_t) override { return open(nlohmann::json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name))
      throw BadFile(fmt::format("{}: the key '{}' is given twice", file_, printable(name)));
    key_ = name;
    return true;
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    // nlohmann's message is "[json.exception.…] parse error at line 1, column 3: …".
    std::string what = error.what();
    if (const auto end = what.find("] "); end != std::string::npos) what = what.substr(end + 2);
    throw BadFile(file_ + ": not JSON: " + printable(what, 300));
  }

 private:
  nlohmann::json* add(nlohmann::json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    nlohmann::json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }
  bool put(nlohmann::json value) {
    add(std::move(value));
    return true;
  }
  bool open(nlohmann::json value) {
    if (open_.size() >= kDeepestNesting)
      throw BadFile(fmt::format("{}: nested deeper than {} levels", file_, kDeepestNesting));
    open_.push_back(add(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  nlohmann::json& root_;
  std::string file_;
  std::string key_;
  // The objects and arrays that are open, from the root inwards. A child is closed before its
  // parent grows again, so the pointers stay valid.
  std::vector<nlohmann::json*> open_;
};

}  // namespace

Node parse_json(std::string_view content, const std::string& file) {
  auto tree = std::make_shared<Node::Tree>();
  tree->file = file;
  StrictBuilder builder(tree->root, file);
  nlohmann::json::sax_parse(content, &builder);
  const nlohmann::json* root = &tree->root;
  return Node(std::move(tree), root);
}

}  // namespace pipedream
