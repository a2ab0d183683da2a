// Recognises commands that were started in a way that cannot work, and says how to start them
// instead (docs/runtime.md#what-starts-the-processes).
#pragma once

#include <optional>
#include <string>

#include "cli/launch_words.h"
#include "transport/launcher.h"

namespace pipedream::cli {

// What is wrong with the way in which `launcher` started `command`, the words after the program's
// name; nullopt if nothing is. Commands that neither train nor measure may be started in any way.
[[nodiscard]] std::optional<std::string> wrong_start(const transport::Launcher& launcher,
                                                     const Words& command);

}  // namespace pipedream::cli
