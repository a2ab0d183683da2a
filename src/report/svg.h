// Pieces of SVG text. Lengths are whole tenths of a pixel, so that a picture is the same to the
// byte on every machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pipedream::report {

using Tenths = int;  // tenths of a pixel

// Returns `text` for use in XML text and attributes. Markup characters become entities. Control
// characters, other characters that XML forbids, and bytes that are not UTF-8 become "�".
[[nodiscard]] std::string escape_xml(std::string_view text);

// Returns a length in pixels: 125 → "12.5", 120 → "12".
[[nodiscard]] std::string pixels(Tenths length);

// Return the largest width of a number, and the approximate width of other text, in the usual
// sans-serif fonts. `font` is the font size in pixels.
[[nodiscard]] Tenths number_width(const std::string& number, int font);
[[nodiscard]] Tenths text_width(const std::string& text, int font);

struct Rect {
  Tenths x = 0;
  Tenths y = 0;
  Tenths width = 0;
  Tenths height = 0;
};

struct Point {
  Tenths x = 0;
  Tenths y = 0;
};

// A picture under construction. Texts and titles are escaped here. `css` are classes of the style
// sheet; class tN is a font of N pixels.
class Svg {
 public:
  // `patterns` is the text of the <pattern> elements that the style sheet refers to.
  Svg(Tenths width, Tenths height, std::string_view style_sheet, std::string_view patterns = {});

  // Adds a rectangle. `title`, unless empty, is its tooltip.
  void rect(std::string_view css, const Rect& at, std::string_view title = {});
  // Adds a closed shape. `title`, unless empty, is its tooltip.
  void polygon(std::string_view css, const std::vector<Point>& corners,
               std::string_view title = {});
  // Adds a line through `points`.
  void line(std::string_view css, const std::vector<Point>& points);
  // Adds a text. `y` is the position of its base line.
  void text(std::string_view css, Tenths x, Tenths y, std::string_view text);
  void begin_group(std::string_view css);
  void end_group();
  // Returns the whole document. Nothing can be added afterwards.
  [[nodiscard]] std::string finish() &&;

 private:
  void close(std::string_view name, std::string_view title);

  std::string out_;
};

}  // namespace pipedream::report
