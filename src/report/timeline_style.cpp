#include "report/timeline_style.h"

#include <fmt/format.h>

#include "core/match.h"

namespace pipedream::report {
namespace {

constexpr Style kStyles[kLooks] = {
    {"f", "#56b4e9", "#b0dcf5", "forward"},
    {"b", "#2aa882", "#96d8c2", "backward"},
    {"bi", "#2aa882", "#96d8c2", "backward: input gradient"},
    {"bw", "#b9e08a", "#dcf0c4", "backward: weight gradient"},
    {"c", "#f0e442", "#f8f2a6", "recomputation"},
    {"a", "#c4c4c4", "#c4c4c4", "wait for weights"},
    {"u", "#111", "#111", "update"},
    {"g", "#d55e00", "#d55e00", "weights fetched"},
    {"s", "#e69f00", "#e69f00", "send"},
    {"r", "#f6cf80", "#f6cf80", "receive"},
    {"x", "#cc79a7", "#cc79a7", "averaging"},
    {"p", "#cc79a7", "#cc79a7", "push"},
    {"l", "#8c8c8c", "#8c8c8c", "loading"},
};

Look look_of_part(schedule::Part part) {
  switch (part) {
    case schedule::Part::kInput:
      return Look::kInputGradient;
    case schedule::Part::kWeight:
      return Look::kWeightGradient;
    case schedule::Part::kFull:
      break;
  }
  return Look::kBackward;
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
      ".page{fill:#fff}.idle{fill:#e9e9e9}.strip{fill:#f5f5f5}.grid{fill:#cfcfcf}"
      ".band{fill:#000;fill-opacity:.5}\n";
  for (int font = 6; font <= 16; ++font) out += fmt::format(".t{0}{{font-size:{0}px}}", font);
  out += "\n";
  for (const Style& style : kStyles)
    out += fmt::format(".{0}{{fill:{1}}}.{0}o{{fill:{2}}}", style.css, style.colour, style.second);
  return out + "\n";
}

}  // namespace pipedream::report
