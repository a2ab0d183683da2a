// The page of a run: one HTML file that needs nothing else (docs/page.md).
#pragma once

#include <string>
#include <vector>

#include "page/data.h"

namespace pipedream::page {

// A page that is a file, or one that a LiveServer (page/live.h) shows while its only run goes on.
enum class Use { kFile, kLive };

// How every page begins, so that a page can be told from other files.
inline constexpr const char* kFirstLines =
    "<!doctype html>\n<html lang=\"en\" data-made-by=\"pipedream\">\n";

// Returns the page of these runs, of which there is at least one.
[[nodiscard]] std::string html(const std::string& title, const std::vector<Run>& runs,
                               Use use = Use::kFile);

// Returns what a browser shows until there is a page: it asks again by itself.
[[nodiscard]] std::string waiting_html(const std::string& title);

// What is new about a run that a live page shows. Returns JSON in one line.
struct News {
  nlohmann::ordered_json result;  // members of Run::result that have changed
  nlohmann::ordered_json curves;  // Curves::json()
  double share = 0;               // of the training, from 0 to 1
  std::string words{};            // the state of the training, such as "minibatch 5 of 20"
  bool is_last = false;
};
[[nodiscard]] std::string to_line(const News& news);

}  // namespace pipedream::page
