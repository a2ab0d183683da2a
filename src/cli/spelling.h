// The core names options in backquotes (`no_recompute`, core/error.h); the command line spells them
// as flags (--no-recompute).
#pragma once

#include <string>

#include "systems/options.h"

namespace pipedream::cli {

// "--no-recompute" for "no_recompute".
[[nodiscard]] std::string flag_of(const std::string& option);
[[nodiscard]] std::string flag_of(systems::Option option);

// Returns `text` with every option in backquotes replaced by its flag.
[[nodiscard]] std::string with_flags(const std::string& text);

}  // namespace pipedream::cli
