// --svg and --trace: a timeline as a picture.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "report/timeline_svg.h"
#include "timeline/timeline.h"

namespace pipedream::cli {

struct PictureFlags {
  std::string svg;
  std::string trace;
  [[nodiscard]] bool wants_any() const { return !svg.empty() || !trace.empty(); }
};

void add_picture_flags(CLI::App& command, const std::shared_ptr<PictureFlags>& flags);

// Before the work is done: makes the folders that the files lie in; throws IoError where one cannot
// be written, and BadUsage where it would replace a file of another kind.
void check_picture_files(const PictureFlags& flags);

// Writes those that were asked for and says so on stderr. The trace has the title of `options`.
void write_pictures(const PictureFlags& flags, const timeline::Timeline& timeline,
                    const report::SvgOptions& options);

}  // namespace pipedream::cli
