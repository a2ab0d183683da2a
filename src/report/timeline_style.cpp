#include "report/timeline_style.h"

#include <fmt/format.h>

#include "core/match.h"

namespace pipedream::report {
namespace {

constexpr Style kStyles[kLooks] = {
    {"f", "#56b4e9", false, true, "forward"},
    {"b", "#2aa882", false, true, "backward"},
    {"bi", "#9acd4e", false, true, "backward: input gradient"},
    {"bw", "#9acd4e", true, true, "backward: weight gradient"},
    {"c", "#f0e442", false, true, "recomputation"},
    {"a", "#e9e9e9", true, false, "wait for weights"},
    {"u", "#111111", false, false, "update"},
    {"g", "#d55e00", false, false, "weights fetched"},
    {"s", "#e69f00", false, true, "send"},
    {"r", "#a98bd6", false, true, "receive"},
    {"x", "#cc79a7", false, false, "averaging"},
    {"p", "#cc79a7", true, true, "push"},
    {"l", "#7f8fd9", false, true, "loading"},
};

Look look_of_part(schedule::BackwardPart part) {
  switch (part) {
    case schedule::BackwardPart::kInput:
      return Look::kInputGradient;
    case schedule::BackwardPart::kWeight:
      return Look::kWeightGradient;
    case schedule::BackwardPart::kFull:
      break;
  }
  return Look::kBackward;
}

// Returns a colour of which `percent` are replaced by a grey: 0 is black, 255 white.
std::string mixed(const std::string& colour, int grey, int percent) {
  std::string text = "#";
  for (std::size_t i = 1; i < colour.size(); i += 2) {
    const int part = std::stoi(colour.substr(i, 2), nullptr, 16);
    text += fmt::format("{:02x}", (part * (100 - percent) + grey * percent) / 100);
  }
  return text;
}

std::string colour_of(const Style& style, bool is_pale) {
  return is_pale ? mixed(style.colour, 255, 50) : style.colour;
}

std::string fill_of(const Style& style, bool is_pale) {
  return style.striped ? fmt::format("url(#{}{})", style.css, is_pale ? "o" : "")
                       : colour_of(style, is_pale);
}

std::string pattern_of(const Style& style, bool is_pale) {
  const std::string colour = colour_of(style, is_pale);
  return fmt::format(
      "<pattern id=\"{}{}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><path fill=\"{}\" d=\"M0 0h5v5H0z\"/>"
      "<path fill=\"{}\" d=\"M0 0h2v5H0z\"/></pattern>\n",
      style.css, is_pale ? "o" : "", colour, mixed(colour, 0, 20));
}

}  // namespace

Look look_of(const schedule::Op& op) {
  using namespace schedule;
  return std::visit(
      Match{[](const Forward&) { return Look::kForward; },
            [](const Backward& b) { return look_of_part(b.part); },
            [](const Recompute&) { return Look::kRecompute; },
            [](const Await&) { return Look::kWait; }, [](const Update&) { return Look::kUpdate; },
            [](const Pull&) { return Look::kFetch; }, [](const Send&) { return Look::kSend; },
            [](const Recv&) { return Look::kReceive; },
            [](const Reduce&) { return Look::kAverage; }, [](const Push&) { return Look::kPush; },
            [](const Load&) { return Look::kLoad; }},
      op);
}

const Style& style_of(Look look) { return kStyles[static_cast<std::size_t>(look)]; }

std::string style_sheet() {
  std::string out =
      "text{font-family:Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif;fill:#111;"
      "pointer-events:none}\n"
      ".n{text-anchor:middle}.e{text-anchor:end}.q{fill:#555}.h{font-weight:bold}.w "
      "text,text.w{fill:#fff}\n"
      ".page{fill:#fff}.idle{fill:#e9e9e9}.grid{fill:#cfcfcf}.band{fill:#555}"
      ".tear{fill:none;stroke:#777}\n";
  for (int font = 6; font <= 16; ++font) out += fmt::format(".t{0}{{font-size:{0}px}}", font);
  out += "\n";
  for (const Style& style : kStyles) {
    out += fmt::format(".{}{{fill:{}}}", style.css, fill_of(style, false));
    if (style.has_pale) out += fmt::format(".{}o{{fill:{}}}", style.css, fill_of(style, true));
  }
  return out + "\n";
}

std::string patterns() {
  std::string out;
  for (const Style& style : kStyles) {
    if (style.striped) out += pattern_of(style, false);
    if (style.striped && style.has_pale) out += pattern_of(style, true);
  }
  return out;
}

}  // namespace pipedream::report
