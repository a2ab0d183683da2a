#include "cli/pictures.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "cli/flags.h"
#include "core/error.h"
#include "core/file.h"
#include "report/trace.h"

namespace pipedream::cli {

void add_picture_flags(CLI::App& command, const std::shared_ptr<PictureFlags>& flags) {
  command.add_option("--svg", flags->svg, "Write the timeline as a picture to this file")
      ->check(check_output_name);
  command
      .add_option("--trace", flags->trace,
                  "Write the timeline for chrome://tracing or ui.perfetto.dev to this file (JSON)")
      ->check(check_output_name);
}

void check_no_other_file(const std::string& flag, const std::string& file,
                         const std::string& beginning, const std::string& what) {
  if (file.empty()) return;
  prepare_to_write(file);
  if (!std::filesystem::is_regular_file(file) || std::filesystem::is_empty(file)) return;
  std::string found(beginning.size(), ' ');
  std::ifstream(file).read(found.data(), static_cast<std::streamsize>(found.size()));
  if (found != beginning)
    throw BadUsage(flag + " " + file + ": that file exists and is no " + what +
                   ": name another, or remove it");
}

void check_picture_files(const PictureFlags& flags) {
  if (!flags.svg.empty() && flags.svg == flags.trace)
    throw BadUsage("--svg and --trace name the same file");
  check_no_other_file("--svg", flags.svg, "<svg", "picture");
  check_no_other_file("--trace", flags.trace, "{\"displayTimeUnit\"", "trace");
}

void write_pictures(const PictureFlags& flags, const timeline::Timeline& timeline,
                    const report::SvgOptions& options) {
  const auto write = [](const std::string& file, const std::string& content) {
    write_file_atomically(file, content);
    std::cerr << "written to " << file << "\n";
  };
  if (!flags.svg.empty()) write(flags.svg, report::timeline_svg(timeline, options));
  if (!flags.trace.empty())
    write(flags.trace, report::trace_json(timeline, {.title = options.title}));
}

}  // namespace pipedream::cli
