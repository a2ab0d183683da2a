// Timestamped lines on stderr for what a person may want to know while a command works. Data goes
// to stdout and is printed by cli/. Safe from any thread.
#pragma once

#include <string_view>

namespace pipedream {

void log_info(std::string_view message);
void log_warning(std::string_view message);

}  // namespace pipedream
