#include "core/log.h"

#include <cstdlib>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace pipedream {
namespace {

// One logger for the whole process, because stderr is shared by the whole process. The environment
// variable NO_COLOR turns colours off (no-color.org).
spdlog::logger& logger() {
  static const auto instance = [] {
    const char* no_color = std::getenv("NO_COLOR");
    const auto mode = no_color != nullptr && *no_color != '\0' ? spdlog::color_mode::never
                                                               : spdlog::color_mode::automatic;
    auto made = std::make_shared<spdlog::logger>(
        "pipedream", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(mode));
    made->set_pattern("%Y-%m-%d %H:%M:%S %^%l%$ %v");
    return made;
  }();
  return *instance;
}

}  // namespace

void log_info(std::string_view message) { logger().info(message); }
void log_warning(std::string_view message) { logger().warn(message); }

}  // namespace pipedream
