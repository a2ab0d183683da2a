// The page of a run: one HTML file that needs nothing else (docs/page.md).
#pragma once

#include <string>
#include <vector>

#include "page/data.h"

namespace pipedream::page {

// How every page begins, so that a page can be told from other files.
inline constexpr const char* kFirstLines =
    "<!doctype html>\n<html lang=\"en\" data-made-by=\"pipedream\">\n";

// Returns the page of these runs, of which there is at least one. `training` is empty for a page
// that is a file. For one that a LiveServer (page/live.h) shows while its only run goes on, it
// names the training: the page follows the news of this one alone.
[[nodiscard]] std::string html(const std::string& title, const std::vector<Run>& runs,
                               const std::string& training = "");

// Returns what a browser shows until there is a page: it asks again by itself.
[[nodiscard]] std::string waiting_html(const std::string& title);

// What is new about a run that a live page shows. Returns JSON in one line.
struct News {
  std::string training{};         // the name that the page was made with
  nlohmann::ordered_json result;  // members of Run::result that have changed
  nlohmann::ordered_json curves;  // Curves::json()
  double share = 0;               // of the training, from 0 to 1
  std::string words{};            // the state of the training, such as "minibatch 5 of 20"
  bool is_last = false;
};
[[nodiscard]] std::string to_line(const News& news);

}  // namespace pipedream::page
