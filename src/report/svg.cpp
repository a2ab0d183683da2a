#include "report/svg.h"

#include <cstdint>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "report/table.h"

namespace pipedream::report {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

// A character of UTF-8 text.
struct Character {
  std::uint32_t value = 0;  // code point
  std::size_t bytes = 0;    // length; 0: the text does not begin with a valid character
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t value = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return value < kSmallest[bytes] ? Character{} : Character{value, bytes};
}

// Returns whether `value` is a character of XML 1.0 (production 2) and not a control character. XML
// allows line ends and tabs too, but attributes would lose them.
bool is_allowed(std::uint32_t value) {
  return (value >= 0x20 && value != 0x7F && value <= 0xD7FF) ||
         (value >= 0xE000 && value <= 0xFFFD) || (value >= 0x10000 && value <= 0x10FFFF);
}

std::string_view entity(std::uint32_t value) {
  switch (value) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

std::string points_text(const std::vector<Point>& points) {
  std::string text;
  for (const Point& point : points)
    text += (text.empty() ? "" : " ") + pixels(point.x) + "," + pixels(point.y);
  return text;
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character next = first_of(text);
    const std::size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    if (next.bytes == 0 || !is_allowed(next.value))
      out += kReplacement;
    else if (const std::string_view markup = entity(next.value); !markup.empty())
      out += markup;
    else
      out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

std::string pixels(Tenths length) {
  std::string text = length < 0 ? "-" : "";
  text += std::to_string(std::abs(length / 10));
  if (length % 10 != 0) text += fmt::format(".{}", std::abs(length % 10));
  return text;
}

// Digits of DejaVu Sans, the widest of the usual fonts, take 0.636 of the font's size.
Tenths number_width(const std::string& number, int font) {
  return static_cast<Tenths>(width_of(number)) * font * 64 / 10;
}

Tenths text_width(const std::string& text, int font) {
  return static_cast<Tenths>(width_of(text)) * font * 56 / 10;
}

Svg::Svg(Tenths width, Tenths height, std::string_view style_sheet, std::string_view patterns) {
  fmt::format_to(std::back_inserter(out_),
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                 "viewBox=\"0 0 {0} {1}\">\n<style>\n{2}</style>\n",
                 pixels(width), pixels(height), style_sheet);
  if (!patterns.empty()) fmt::format_to(std::back_inserter(out_), "<defs>\n{}</defs>\n", patterns);
}

// Ends the element that was begun, with its tooltip.
void Svg::close(std::string_view name, std::string_view title) {
  if (title.empty())
    out_ += "/>\n";
  else
    fmt::format_to(std::back_inserter(out_), "><title>{}</title></{}>\n", escape_xml(title), name);
}

void Svg::rect(std::string_view css, const Rect& at, std::string_view title) {
  fmt::format_to(std::back_inserter(out_),
                 "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", css,
                 pixels(at.x), pixels(at.y), pixels(at.width), pixels(at.height));
  close("rect", title);
}

void Svg::polygon(std::string_view css, const std::vector<Point>& corners, std::string_view title) {
  fmt::format_to(std::back_inserter(out_), "<polygon class=\"{}\" points=\"{}\"", css,
                 points_text(corners));
  close("polygon", title);
}

void Svg::line(std::string_view css, const std::vector<Point>& points) {
  fmt::format_to(std::back_inserter(out_), "<polyline class=\"{}\" points=\"{}\"", css,
                 points_text(points));
  close("polyline", {});
}

void Svg::text(std::string_view css, Tenths x, Tenths y, std::string_view text) {
  out_ += "<text";
  if (!css.empty()) fmt::format_to(std::back_inserter(out_), " class=\"{}\"", css);
  fmt::format_to(std::back_inserter(out_), " x=\"{}\" y=\"{}\">{}</text>\n", pixels(x), pixels(y),
                 escape_xml(text));
}

void Svg::begin_group(std::string_view css) { out_ += fmt::format("<g class=\"{}\">\n", css); }

void Svg::end_group() { out_ += "</g>\n"; }

std::string Svg::finish() && { return std::move(out_) + "</svg>\n"; }

}  // namespace pipedream::report
