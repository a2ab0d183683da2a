// The flags --svg and --trace, which write a timeline as a picture or as a trace.
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

// Creates the folder of `file`. Throws IoError if the file cannot be written, and BadUsage if it
// exists and does not start with `beginning`, as files of the kind `what` do: a wrong file name
// must not destroy another file. Does nothing if `file` is empty.
void check_no_other_file(const std::string& flag, const std::string& file,
                         const std::string& beginning, const std::string& what);

// Called before the long work begins. Creates the folders of the files. Throws IoError if a file
// cannot be written, and BadUsage if it would replace a file of another kind or if both flags name
// the same file.
void check_picture_files(const PictureFlags& flags);

// Writes the files that `flags` asks for and names them on stderr. The title of `options` is used
// for the trace too.
void write_pictures(const PictureFlags& flags, const timeline::Timeline& timeline,
                    const report::SvgOptions& options);

}  // namespace pipedream::cli
