#include "report/timeline_style.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

struct Colour {
  double red, green, blue;  // 0 … 1
  [[nodiscard]] double largest() const { return std::max({red, green, blue}); }
  [[nodiscard]] double chroma() const { return largest() - std::min({red, green, blue}); }
  // Returns the hue in degrees. Requires chroma() > 0.
  [[nodiscard]] double hue() const {
    const double sixth = largest() == red     ? (green - blue) / chroma() + 6
                         : largest() == green ? (blue - red) / chroma() + 2
                                              : (red - green) / chroma() + 4;
    return 60 * std::fmod(sixth, 6);
  }
};

Colour colour_of(const std::string& text) {
  const auto part = [&](std::size_t at) {
    return std::stoi(text.substr(at, 2), nullptr, 16) / 255.;
  };
  return {part(1), part(3), part(5)};
}

std::vector<Style> all_styles() {
  std::vector<Style> styles;
  for (std::size_t i = 0; i < kLooks; ++i) styles.push_back(style_of(static_cast<Look>(i)));
  return styles;
}

TEST(StyleOf, NoLookIsAPalerShadeOfAnother) {
  for (const Style& a : all_styles())
    for (const Style& b : all_styles()) {
      const bool same = std::string(a.css) == b.css || std::string(a.colour) == b.colour;
      const Colour first = colour_of(a.colour);
      const Colour second = colour_of(b.colour);
      if (same || first.chroma() < 0.05 || second.chroma() < 0.05) continue;
      const double apart = std::abs(first.hue() - second.hue());
      EXPECT_GE(std::min(apart, 360 - apart), 12) << a.label << " and " << b.label;
    }
}

TEST(StyleOf, LooksOfOneColourAreToldApartByStripes) {
  std::set<std::pair<std::string, bool>> seen;
  for (const Style& style : all_styles())
    EXPECT_TRUE(seen.insert({style.colour, style.striped}).second) << style.label;
}

TEST(StyleSheet, HasAClassForEveryLookAndItsPaleTwin) {
  const std::string sheet = style_sheet();
  for (const Style& style : all_styles()) {
    EXPECT_NE(sheet.find("." + std::string(style.css) + "{fill:"), std::string::npos);
    EXPECT_EQ(sheet.find("." + std::string(style.css) + "o{fill:") != std::string::npos,
              style.has_pale);
  }
  EXPECT_EQ(sheet.find("opacity"), std::string::npos);
  EXPECT_NE(sheet.find(".f{fill:#56b4e9}.fo{fill:#aad9f4}"), std::string::npos);
}

TEST(Patterns, AreAllThatTheStyleSheetRefersTo) {
  const std::string sheet = style_sheet();
  const std::string all = patterns();
  int references = 0;
  for (std::size_t at = 0; (at = sheet.find("url(#", at)) != std::string::npos; ++references) {
    at += 5;
    const std::string name = sheet.substr(at, sheet.find(')', at) - at);
    EXPECT_NE(all.find("<pattern id=\"" + name + "\""), std::string::npos) << name;
  }
  EXPECT_EQ(references, std::count(all.begin(), all.end(), '\n'));
}

}  // namespace
}  // namespace pipedream::report
