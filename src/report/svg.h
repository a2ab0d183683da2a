// Pieces of SVG text. Lengths are whole tenths of a pixel, so that a picture is the same to the
// byte on every machine.
#pragma once

#include <string>
#include <string_view>

namespace pipedream::report {

using Tenths = int;  // of a pixel

// `text` as it may stand in XML text and attributes: what is markup becomes an entity; what XML
// forbids, and what is not UTF-8, becomes "�".
[[nodiscard]] std::string escape_xml(std::string_view text);

// 125 → "12.5", 120 → "12".
[[nodiscard]] std::string pixels(Tenths length);

// How wide a number is at most, and about how wide other text is, in the usual sans-serif fonts of
// that many pixels.
[[nodiscard]] Tenths number_width(const std::string& number, int font);
[[nodiscard]] Tenths text_width(const std::string& text, int font);

struct Rect {
  Tenths x = 0;
  Tenths y = 0;
  Tenths width = 0;
  Tenths height = 0;
};

// A picture under construction. Texts and titles are escaped here; classes come from the style
// sheet, where tN is the font of N pixels.
class Svg {
 public:
  Svg(Tenths width, Tenths height, std::string_view style_sheet);

  // A rectangle; `title`, unless empty, shows where the mouse rests on it. Opacity in percent.
  void rect(std::string_view css, const Rect& at, std::string_view title = {}, int opacity = 100);
  // y is that of the base line.
  void text(std::string_view css, Tenths x, Tenths y, std::string_view text);
  void begin_group(std::string_view css);
  void end_group();
  // The whole document; the picture is over then.
  [[nodiscard]] std::string finish() &&;

 private:
  std::string out_;
};

}  // namespace pipedream::report
