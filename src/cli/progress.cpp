#include "cli/progress.h"

#include <cmath>
#include <cstdio>

#include <unistd.h>

#include "core/log.h"
#include "report/table.h"

namespace pipedream::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr double kSmallestShare = 0.02;  // below this share the time left is not shown

std::string time_left(double share, Seconds used) {
  if (share < kSmallestShare) return "";
  const double seconds = used.count() * (1 - share) / share;
  return "about " + report::grouped(std::llround(seconds)) + " s left";
}

}  // namespace

Progress::Progress(std::string title, Seconds quiet)
    : title_(std::move(title)),
      terminal_(::isatty(2) == 1),
      next_(began_ + std::chrono::duration_cast<Clock::duration>(quiet)) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::show(double share, const std::string& what, std::optional<Seconds> used) {
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000));
  const std::string left = time_left(share, used.value_or(now - began_));
  const std::string text = what.empty() || left.empty() ? what + left : what + ", " + left;
  if (!terminal_) {
    log_info(title_ + ": " + report::percent(share) + (text.empty() ? "" : ", ") + text);
    return;
  }
  const std::string filled = report::bar(share, kBarWidth);
  const std::string space(static_cast<std::size_t>(kBarWidth) - report::width_of(filled), ' ');
  std::fputs(("\r\033[K" + title_ + " ▕" + filled + space + "▏ " + text).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace pipedream::cli
