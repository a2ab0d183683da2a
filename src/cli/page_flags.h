// The flag --html, which writes a page about a run (page/page.h).
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace pipedream::cli {

void add_page_flag(CLI::App& command, std::string& file);

// Called before the long work begins. Creates the folder of the file. Throws IoError if the file
// cannot be written, and BadUsage if it would replace a file that is no page. `flag` names the file
// in messages. Does nothing if `file` is empty.
void check_page_file(const std::string& flag, const std::string& file);

}  // namespace pipedream::cli
