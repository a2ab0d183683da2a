// Logging: timestamped lines on stderr that tell a person what a command is doing. Results go to
// stdout instead, and only cli/ prints them. Any thread may call these functions.
#pragma once

#include <string_view>

namespace pipedream {

void log_info(std::string_view message);
void log_warning(std::string_view message);

}  // namespace pipedream
