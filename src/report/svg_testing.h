// Reads SVG back, for tests about pictures. Only *_test.cpp files include this.
#pragma once

#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pipedream::report {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;   // its own text, with entities resolved
  std::string title;  // the text of its <title>
  std::string group;  // the class of the innermost <g> around it

  [[nodiscard]] double number(const std::string& attribute) const {
    return std::strtod(attributes.at(attribute).c_str(), nullptr);
  }
  [[nodiscard]] std::string css() const {
    const auto found = attributes.find("class");
    return found == attributes.end() ? "" : found->second;
  }
};

// Reads all elements of a document, parents before their children. Throws std::exception if the
// document is not well-formed. Knows only the XML that our SVG uses: no comments, processing
// instructions or document type.
class XmlReader {
 public:
  [[nodiscard]] static std::vector<Element> read(std::string_view document) {
    XmlReader reader(document);
    reader.read_element();
    reader.skip_spaces();
    if (!reader.left_.empty()) reader.refuse("something after the root");
    return std::move(reader.elements_);
  }

 private:
  explicit XmlReader(std::string_view document) : left_(document) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw std::runtime_error(why + " before: " + std::string(left_.substr(0, 40)));
  }
  bool take(std::string_view text) {
    if (!left_.starts_with(text)) return false;
    left_.remove_prefix(text.size());
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) refuse("no " + std::string(text));
  }
  void skip_spaces() {
    while (take(" ") || take("\n")) continue;
  }
  std::string_view take_until(std::string_view any_of) {
    const std::size_t end = left_.find_first_of(any_of);
    if (end == std::string_view::npos) refuse("an end is missing");
    const std::string_view taken = left_.substr(0, end);
    left_.remove_prefix(end);
    return taken;
  }
  std::string resolved(std::string_view text) const {
    static const std::map<std::string_view, char> kEntities = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"#39", '\''}};
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (static_cast<unsigned char>(text[i]) < 32 && text[i] != '\n') refuse("control character");
      if (text[i] != '&') {
        out += text[i];
        continue;
      }
      const std::size_t end = text.find(';', i);
      if (end == std::string_view::npos) refuse("a bare &");
      out += kEntities.at(text.substr(i + 1, end - i - 1));
      i = end;
    }
    return out;
  }
  void read_attributes(Element& element) {
    for (skip_spaces(); !left_.starts_with("/") && !left_.starts_with(">"); skip_spaces()) {
      const std::string name(take_until("=<> "));
      expect("=\"");
      const std::string value = resolved(take_until("\"<"));
      expect("\"");
      if (!element.attributes.emplace(name, value).second) refuse("a second " + name);
    }
  }
  Element read_element() {
    expect("<");
    Element element{std::string(take_until(" />\n")), {}, "", "", group_};
    const std::size_t place = elements_.size();
    elements_.push_back(element);
    read_attributes(element);
    if (!take("/>")) {
      expect(">");
      if (element.name == "g") group_ = element.css();
      while (!left_.starts_with("</")) {
        element.text += resolved(take_until("<"));
        if (left_.starts_with("</")) break;
        const Element child = read_element();
        if (child.name == "title") element.title = child.text;
      }
      expect("</" + element.name + ">");
      if (element.name == "g") group_ = element.group;
    }
    return elements_[place] = element;
  }

  std::string_view left_;
  std::vector<Element> elements_;
  std::string group_;  // the class of the innermost <g> that is open
};

// Returns the classes of all boxes, marks and lines in a picture's legend (`of_legend`) or outside
// it, in its chart. Every picture must have the same classes in both.
[[nodiscard]] inline std::set<std::string> classes_in(const std::vector<Element>& elements,
                                                      bool of_legend) {
  std::set<std::string> classes;
  for (const Element& element : elements)
    if ((element.name == "rect" || element.name == "polyline") &&
        (element.group == "legend") == of_legend && element.css() != "page" &&
        element.css() != "grid")
      classes.insert(element.css());
  return classes;
}

}  // namespace pipedream::report
